"""A worker: a process that executes runs one after another, each in a child process of its own.

`Worker` is the experiment's end; `worker_process` is the program of the process.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import IO, Any

import psutil

from dabp.errors import DabpError
from dabp.lab.experiments.execution import failure
from dabp.lab.experiments.experiment_plan import Run
from dabp.lab.experiments.prefixes import Rows
from dabp.lab.generators import GENERATORS
from dabp.solvers import SOLVERS
from dabp.solvers.process_group import start_apart

START_METHOD = "fork" if sys.platform == "linux" else "spawn"
"""How a worker starts the process of a run: a fork takes milliseconds, but macOS's libraries do not survive one."""

ATTEMPTS = 3
"""Number of times that a run is started whose worker is killed."""

ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMEXPR", "NUMBA")}
"""Environment of runs: an experiment is parallel over runs, and times are comparable only on one thread each."""

Rehearsal = tuple[str, dict[str, Any], str, dict[str, Any]]
"""Solver, its parameters, family of instances, its parameters."""


@dataclass(frozen=True)
class Preparation:
    """What a worker does before its first run, and what all of its runs share.

    Loading a compiled kernel takes longer than many a run. A worker that has solved a tiny problem of the same shape
    with the same solver hands the loaded kernels to the processes that it forks.
    """

    modules: list[str] = field(default_factory=list)
    """Modules to import."""
    rehearsals: list[Rehearsal] = field(default_factory=list)
    """Tiny problems to solve."""
    trust: list[str] = field(default_factory=list)
    """Modules that solvers of the user's own may come from."""
    path: list[str] = field(default_factory=list)
    """Folders in which these modules are looked for."""


def preparation_for(runs: Sequence[Run], trust: Sequence[str] = (), path: Sequence[str] = ()) -> Preparation:
    """The driver, the generators and readers, and the registered solvers of some runs."""
    registered = [run for run in runs if run.solver in SOLVERS]
    solvers = sorted({f"dabp.solvers.{SOLVERS[run.solver].module}" for run in registered})
    families = {run.instance.get("family") for run in runs}
    sources = {f"dabp.lab.generators.{GENERATORS[name]}" if name in GENERATORS else "dabp.formats" for name in families}
    rehearsals: dict[tuple[str, str, Any], Rehearsal] = {}
    for run in registered:
        family, shape = run.instance.get("family", "random-cop"), dict(run.instance.get("parameters", {}))
        starts_processes = run.solver in ("toulbar2", "auto")  # a worker forks, and must not have threads of its own
        if not starts_processes and _is_small(shape):
            # 14 variables are enough for the parameters of every family in the paper
            rehearsal = (run.solver, dict(run.parameters), family, {**shape, "variables": 14})
            rehearsals.setdefault((run.solver, family, shape.get("domain")), rehearsal)
    modules = ["dabp.driver.solve", "numpy.random", "numpy.ma", *sorted(sources), *solvers]
    return Preparation(modules, list(rehearsals.values()), list(trust), list(path))


def _is_small(shape: Mapping[str, Any]) -> bool:
    """Whether few variables of this shape are a small problem: the worker has no limit of memory."""
    sizes = (value for key, value in shape.items() if key not in ("variables", "max_cost"))
    return all(not isinstance(value, int | float) or value <= 100 for value in sizes)


class WorkerClosedError(Exception):
    """The worker was closed before it had the result of a run."""


class Worker:
    """One worker process, started when first needed and again if it dies."""

    def __init__(self, preparation: Preparation | None = None, start_method: str | None = None):
        self.preparation = preparation or Preparation()
        self.start_method = start_method or START_METHOD
        self.closed = False
        self._process: subprocess.Popen[bytes] | None = None
        self._in_use = threading.Lock()

    def run(self, run: Run) -> list[Rows]:
        """The results of a run and of the shorter ones in it; a run under which every worker dies is recorded as lost.

        Raises
        ------
        WorkerClosedError
            If the worker is closed before it has the result.
        DabpError
            If no worker can be started, which is no run's failure.
        """
        with self._in_use:
            for _ in range(ATTEMPTS):
                if self.closed:
                    raise WorkerClosedError
                process = self._process or self._start()
                reply = _exchange(process, run.to_dict())
                if reply:
                    results: list[Rows] = json.loads(reply)
                    return results
                self._stop()
            if self.closed:
                raise WorkerClosedError
        return [[failure(run, "lost", f"its worker died {ATTEMPTS} times")]]

    def close(self) -> None:
        """End the worker and the run that it executes. May be called from another thread."""
        self.closed = True
        if (process := self._process) is not None:
            end(process.pid)  # which ends a run in another thread
        with self._in_use:
            self._stop()

    def _start(self) -> subprocess.Popen[bytes]:
        try:
            with tempfile.TemporaryFile() as errors:
                command = [sys.executable, "-m", "dabp.lab.experiments.worker_process", self.start_method]
                environment = {**os.environ, **ONE_THREAD}
                process = self._process = start_apart(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, env=environment
                )
                if self.closed:  # by another thread, which saw no process to end
                    end(process.pid)
                ready = _exchange(process, asdict(self.preparation))
                if not ready and process.wait() > 0 and not self.closed:
                    self._stop()
                    said = last_line(errors) or [f"exit code {process.returncode}"]
                    raise DabpError(f"the process that runs are started from ended at once: {said[0]}")
                return process
        except OSError as error:
            raise DabpError(f"no process can be started to run in: {error.strerror}") from None

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            end(process.pid)
            process.wait()
            for stream in (process.stdin, process.stdout):
                with contextlib.suppress(OSError):
                    stream.close()  # type: ignore[union-attr]


def _exchange(process: subprocess.Popen[bytes], message: Mapping[str, Any]) -> bytes:
    """The worker's answer to a message, a line of JSON; nothing if the worker has died."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(message).encode() + b"\n")
        process.stdin.flush()
        return process.stdout.readline()
    except OSError:
        return b""


def end(pid: int) -> None:
    """Kill a process and its descendants; the process has still to be waited for."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for each in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.Error):
                each.kill()


def last_line(errors: IO[bytes]) -> list[str]:
    """The last line of standard error; an empty list if there is none."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - 2000))
    return errors.read().decode(errors="replace").strip().splitlines()[-1:]
