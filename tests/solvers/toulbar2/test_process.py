"""The process that toulbar2 runs in."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import dabp
from dabp.errors import SolverError
from dabp.problem import Problem
from tests.solvers.toulbar2.processes import children, hard_problem

pytestmark = pytest.mark.posix


@pytest.fixture(scope="module")
def hard() -> Problem:
    """A problem that toulbar2 does not finish within a test."""
    return hard_problem()


def test_killed_child_is_an_error(hard: Problem) -> None:
    """When the process dies the solve ends with one sentence, and nothing is left behind."""

    def kill(progress: object) -> None:
        for child in children():
            with contextlib.suppress(psutil.NoSuchProcess):
                child.send_signal(signal.SIGKILL)

    with pytest.raises(SolverError, match="ended unexpectedly"):
        dabp.solve(hard, "toulbar2", time_limit=60, callbacks=[kill])
    assert not children()


@contextlib.contextmanager
def running(folder: Path, body: str, first_line: str) -> Iterator[tuple[subprocess.Popen[str], list[psutil.Process]]]:
    """A process that solves a hard problem, once it has printed a line, and its children; all must end."""
    problem = 'problem = dabp.generate("random-cop", variables=60, domain=15, density=0.25, seed=1)'
    script = folder / "run.py"
    script.write_text(f"import dabp\n{problem}\n{textwrap.dedent(body)}")
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == first_line
        started = psutil.Process(run.pid).children(recursive=True)
        yield run, started
        run.wait(timeout=60)
    assert not psutil.wait_procs(started, timeout=30)[1]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_leave_no_process(number: int, tmp_path: Path) -> None:
    """SIGINT and SIGTERM give the incumbent; after these and SIGKILL toulbar2's processes are gone."""
    body = """
        announce = lambda progress: print("found", flush=True) if progress.improved else None
        result = dabp.solve(problem, "toulbar2", time_limit=60, callbacks=[announce])
        print(result.status.name, result.cost, flush=True)
    """
    with running(tmp_path, body, "found\n") as (run, started):
        assert len(started) == 2
        os.kill(run.pid, number)
        assert number == signal.SIGKILL or run.stdout.read().split()[-2] == "INTERRUPTED"


def test_a_paused_worker_does_not_outlive_its_parent(tmp_path: Path) -> None:
    """The guard stays awake: when the parent is killed it kills the worker, stopped or not."""
    body = """
        import time
        from dabp.solvers.base import Budget
        from dabp.solvers.toulbar2.toulbar2 import Toulbar2
        search = Toulbar2().start(problem, seed=0, budget=Budget())
        while search.step().best is None:
            pass
        search.pause()
        print("paused", flush=True)
        time.sleep(60)
    """
    with running(tmp_path, body, "paused\n") as (run, started):
        deadline = time.monotonic() + 20  # a signal takes a moment on a busy machine
        while psutil.STATUS_STOPPED not in {process.status() for process in started}:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
