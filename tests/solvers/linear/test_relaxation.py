"""The linear relaxation as a solver: rosters and pigeons that it proves infeasible, bounds, and how it ends."""

from __future__ import annotations

import threading
import time

import numpy as np
import psutil
import pytest

import dabp
from dabp.problem.guard import Guard
from dabp.problem.model import Model
from dabp.solvers.base import Budget
from dabp.solvers.linear.relaxation import LinearRelaxation
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum
from tests.solvers.linear.test_program import counting_problem

pytest.importorskip("highspy")


def pigeons(count: int) -> Model:
    model = Model("pigeons")
    model.all_different(model.add_variables((f"p{i}" for i in range(count)), count - 1))
    return model


@pytest.mark.parametrize("presolve", [True, False])
@pytest.mark.parametrize("count", [4, 12, 25])
def test_pigeons(count: int, presolve: bool) -> None:
    """More pigeons than holes are infeasible, stated as all-different or as pairs."""
    problem = pigeons(count).build()
    for each in (problem, problem.replace(statements=())):
        result = dabp.solve(each, "linear-relaxation", time_limit=30, presolve=presolve)
        assert result.status is Status.INFEASIBLE


@pytest.mark.parametrize("seed", range(20))
def test_bound_and_answer(seed: int) -> None:
    """The bound is none that the optimum is below, and OPTIMAL is the optimum."""
    problem = counting_problem(seed)
    best = exhaustive_optimum(problem)
    result = dabp.solve(problem, "linear-relaxation", time_limit=30)
    sign = -1.0 if problem.maximize else 1.0
    if best is None:
        assert result.status in (Status.INFEASIBLE, Status.CONVERGED)
        return
    assert result.status in (Status.OPTIMAL, Status.CONVERGED)
    assert result.bound is not None
    assert sign * result.bound <= sign * best + 1e-9
    if result.status is Status.OPTIMAL:
        assert result.cost == pytest.approx(best)


def test_auto_starts_from_it() -> None:
    """A roster that fits exactly is proved at once: the rows' solution is whole."""
    rng = np.random.default_rng(0)
    model = Model("roster")
    days = [model.add_variables((f"n{n}d{d}" for n in range(9)), ["on", "off"]) for d in range(14)]
    for names in days:
        model.at_least(names, "on", 4)
        for name in names:
            model.add_cost(name, {"on": int(rng.integers(0, 6)), "off": 0})
    for n in range(9):
        model.at_most([names[n] for names in days], "on", 7)
    seen = list[float | None]()
    result = dabp.solve(model, time_limit=30, callbacks=[lambda progress: seen.append(progress.cost) and None])
    assert result.status is Status.OPTIMAL
    assert seen[-1] == result.cost
    assert result.cost == result.bound


def _solves(child: psutil.Process) -> bool:
    """Whether a process runs HiGHS; one that other tests left to be waited for does not."""
    try:
        return child.is_running() and "child.py" in " ".join(child.cmdline())
    except psutil.NoSuchProcess:
        return False


def test_close_ends_the_process() -> None:
    """A search that is closed in the midst of a program leaves no process behind."""
    rng = np.random.default_rng(0)
    model = Model()
    names = model.add_variables((f"x{i}" for i in range(60)), 12)
    for i in range(60):
        for j in rng.permutation(60)[:8].tolist():
            if i != j:
                model.add_cost([names[i], names[j]], rng.integers(0, 1000, (12, 12)).tolist())
    search = LinearRelaxation().start(model.build(), seed=0, budget=Budget(guard=Guard(60.0)))
    while not search._running:  # type: ignore[attr-defined]
        search.step()
    children = psutil.Process().children()
    started = time.monotonic()
    search.close()
    assert time.monotonic() - started < 5.0
    assert not [child for child in children if _solves(child)]
    assert threading.active_count() < 50


def test_a_process_that_dies_is_told() -> None:
    """What killed it is a note, and nothing is claimed."""
    search = LinearRelaxation().start(pigeons(5).build().replace(statements=()), seed=0, budget=Budget())
    search._highs._process.kill()  # type: ignore[attr-defined]
    step = search.step()
    while step.finished is None:
        step = search.step()
    assert step.finished is Status.LIMIT
    assert "HiGHS gave up" in step.notes[0]
    search.close()
