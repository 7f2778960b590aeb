"""toulbar2 in its own process."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import psutil
import pytest

import dabp
from dabp.driver.stopping import Progress
from dabp.errors import ParameterError, SolverError
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.status import Status
from dabp.solvers.toulbar2.scaled_costs import ScaledCosts
from dabp.solvers.toulbar2.solver import MODES, Toulbar2, Toulbar2Search
from tests.problems import all_assignments, exhaustive_optimum, random_problem


@pytest.fixture(scope="module")
def hard() -> Problem:
    """A problem that toulbar2 does not finish within a test."""
    return dabp.generate("random-cop", variables=60, domain=15, density=0.25, seed=1)


def children() -> list[psutil.Process]:
    """The living processes of toulbar2 that this one started."""
    found = []
    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may end between the two questions
            if "toulbar2/child" in str(child.cmdline()):
                found.append(child)
    return found


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("seed", range(200, 206))
def test_modes_find_the_optimum(mode: str, seed: int) -> None:
    """Every mode ends at the optimum of small problems; all but VNS always prove it."""
    problem = random_problem(seed)
    result = dabp.solve(problem, Toulbar2(mode=mode, steps=500))
    optimum = exhaustive_optimum(problem)
    if optimum is None:
        assert result.status is Status.INFEASIBLE
    else:
        assert result.cost == pytest.approx(optimum, abs=1e-6)
        assert mode == "vns" or result.status is Status.OPTIMAL


@pytest.mark.parametrize("seed", range(60))
def test_integer_costs_stay_within_precision(seed: int) -> None:
    """Rounded costs are off by less than asked, bounds through them are valid, and decimals are exact."""
    problem = random_problem(seed, maximize=False)
    costs = ScaledCosts(problem, precision=1e-6)
    if costs.infeasible:
        assert exhaustive_optimum(problem) is None
        return
    rows = all_assignments(problem)
    true, integer = problem.cost(rows), costs.problem.cost(rows)
    assert np.array_equal(np.isinf(true), np.isinf(integer))
    feasible = np.isfinite(true)
    assert (costs.lower_bound(integer[feasible]) <= true[feasible]).all()
    np.testing.assert_allclose(integer[feasible] / costs.scale + costs.offset, true[feasible], atol=1e-6, rtol=0)
    assert integer[feasible].max(initial=0.0) <= costs.largest
    if problem.integral:
        assert costs.scale == 1.0


def test_decimals_of_large_costs_are_not_lost() -> None:
    """A hundred-thousandth beside a hundred thousand is within the precision asked for, and decides."""
    problem = Problem([4], [0], [0, 1], [100000.00005, 100000.00001, 200000.0, 100000.1], [0, 4])
    costs = ScaledCosts(problem, precision=1e-6)
    assert costs.scale >= 1e5
    assert dabp.solve(problem, "toulbar2").assignment.tolist() == [1]


def test_incumbents_and_bounds_stream(hard: Problem) -> None:
    """Answers and bounds arrive while it runs, not at its end, and leave no process when the solve ends."""

    def seen(progress: Progress) -> bool:
        return progress.cost is not None and progress.bound is not None

    result = dabp.solve(hard, "toulbar2", time_limit=60, callbacks=[seen])
    assert result.status is Status.INTERRUPTED
    assert result.bound < result.cost == hard.cost(result.assignment)
    assert not children()


def test_warm_start_is_the_upper_bound() -> None:
    """An optimal warm start is proved, not searched for again; an infeasible one does no harm."""
    problem = random_problem(12)
    best = dabp.solve(problem, "mbe")
    again = dabp.solve(problem, "toulbar2", initial=best.assignment)
    assert again.status is Status.OPTIMAL
    assert again.cost == best.cost
    assert again.iterations == 0
    clash = Problem([2, 2], [0, 1], [0, 2], [np.inf, 3.0, 4.0, np.inf], [0, 4])
    assert dabp.solve(clash, "toulbar2", initial=[0, 0]).cost == 3.0


def test_killed_child_is_an_error(hard: Problem) -> None:
    """When the process dies the solve ends with one sentence, and nothing is left behind."""

    def kill(progress: object) -> None:
        for child in children():
            with contextlib.suppress(psutil.NoSuchProcess):
                child.send_signal(signal.SIGKILL)

    with pytest.raises(SolverError, match="ended unexpectedly"):
        dabp.solve(hard, "toulbar2", time_limit=60, callbacks=[kill])
    assert not children()


def test_memory_limit_counts_the_child(hard: Problem) -> None:
    """A limit below what toulbar2 holds ends the solve as a limit."""
    search = Toulbar2().start(hard, seed=0, budget=Budget(memory_limit=1_000_000))
    assert isinstance(search, Toulbar2Search)
    try:
        deadline = time.perf_counter() + 60
        finished = None
        while finished is None and time.perf_counter() < deadline:
            finished = search.step().finished
    finally:
        search.close()
    assert finished is Status.LIMIT


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_leave_no_process(number: int, tmp_path: Path) -> None:
    """SIGINT and SIGTERM give the incumbent; after these and SIGKILL toulbar2's processes are gone."""
    script = tmp_path / "run.py"
    script.write_text(
        textwrap.dedent("""
        import dabp
        problem = dabp.generate("random-cop", variables=60, domain=15, density=0.25, seed=1)
        announce = lambda progress: print("found", flush=True) if progress.improved else None
        result = dabp.solve(problem, "toulbar2", time_limit=60, callbacks=[announce])
        print(result.status.name, result.cost, flush=True)
        """)
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "found\n"
        started = psutil.Process(run.pid).children(recursive=True)
        assert len(started) == 2
        os.kill(run.pid, number)
        said = run.stdout.read().split()
        run.wait(timeout=60)
    if number != signal.SIGKILL:
        assert said[-2] == "INTERRUPTED"
    assert not psutil.wait_procs(started, timeout=30)[1]


def test_a_paused_one_does_not_outlive_who_paused_it(tmp_path: Path) -> None:
    """The guard stays awake: when the parent is killed it kills the worker, stopped or not."""
    script = tmp_path / "run.py"
    script.write_text(
        textwrap.dedent("""
        import time, dabp
        from dabp.solvers.base import Budget
        from dabp.solvers.toulbar2.solver import Toulbar2
        problem = dabp.generate("random-cop", variables=60, domain=15, density=0.25, seed=1)
        search = Toulbar2().start(problem, seed=0, budget=Budget())
        while search.step().best is None:
            pass
        search.pause()
        print("paused", flush=True)
        time.sleep(60)
        """)
    )
    with subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, text=True) as run:
        assert run.stdout.readline() == "paused\n"
        started = psutil.Process(run.pid).children(recursive=True)
        deadline = time.monotonic() + 20  # a signal takes a moment on a busy machine
        while psutil.STATUS_STOPPED not in {process.status() for process in started}:
            assert time.monotonic() < deadline
            time.sleep(0.01)
        os.kill(run.pid, signal.SIGKILL)
        run.wait(timeout=60)
    assert not psutil.wait_procs(started, timeout=30)[1]


@pytest.mark.parametrize(
    ("file", "optimum"),
    [
        ("4queens.wcsp", 0),
        ("zebra.wcsp", 0),
        ("example.wcsp", 27),
        ("warehouse.wcsp", 328),
        ("celar6sub0.wcsp.xz", 159),
        ("GEOM40_6.wcsp.xz", 0),
        ("1aho.cfn.gz", -33.729920),
        ("maximization.cfn", 0.5),
        ("water.uai", 7.958763),
        ("8wqueens_wcsp.xml", 2),
    ],
)
def test_public_instances(shared_instances: Path, file: str, optimum: float) -> None:
    """The optima that toulbar2 proved when it read these files itself."""
    result = dabp.solve(dabp.read(shared_instances / file), "toulbar2", time_limit=120)
    assert result.status is Status.OPTIMAL
    assert result.cost == pytest.approx(optimum, abs=1e-5)


@pytest.mark.parametrize(
    "wrong", [{"mode": "magic"}, {"tries": 0}, {"steps": 0}, {"vac": -1}, {"precision": 0.0}, {"precision": np.inf}]
)
def test_parameters_are_checked(wrong: dict[str, object]) -> None:
    """Impossible parameters are refused."""
    with pytest.raises(ParameterError, match="toulbar2"):
        Toulbar2(**wrong)  # type: ignore[arg-type]
