"""What a checkpoint holds is all that a run needs to go on, and it belongs to one problem."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dabp.driver import trace
from dabp.driver.checkpoint import saving
from dabp.driver.checkpoint.contents import Captured, restore
from dabp.driver.running import RunningSolve
from dabp.driver.solve import solve
from dabp.errors import CheckpointError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.clock import Clock
from tests.sampling import Sampling


def test_a_run_comes_back_from_its_contents() -> None:
    """Iterations, bound, incumbent, trace and time; an incumbent found after the boundary is not lost."""
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    search = Sampling().start(problem, seed=0, budget=Budget())
    run = RunningSolve(problem, "sampling", 0, Clock())
    step = search.step()
    run.record(step)
    worst, best = np.argmax(step.costs), np.argmin(step.costs)
    assert step.costs[worst] > step.costs[best]
    run.offer(np.zeros(8, dtype=np.int64), 1e6)
    run.tighten(-3.0)
    captured = Captured(search, run, problem)
    run.offer(step.best, float(step.costs[best]))
    again, fresh = RunningSolve(problem, "sampling", 0, Clock()), Sampling().start(problem, seed=0, budget=Budget())
    restore(captured.contents(run), fresh, again, problem)
    assert (again.progress.iterations, again.progress.bound, again.progress.cost) == (10, -3.0, step.costs[best])
    assert again.elapsed >= run.trace.blocks[-1][0]
    assert again.trace.iteration_costs.tolist() == run.trace.iteration_costs.tolist()
    assert len(again.trace.improvements) == 1
    assert np.array_equal(fresh.step().costs, search.step().costs)
    with pytest.raises(CheckpointError, match="another presolve"):
        restore(captured.contents(run), fresh, again, problem.replace(constant=1.0))


def test_a_better_start_given_to_a_resumed_run_is_not_lost(tmp_path: Path) -> None:
    """The state is the file's; the answer is the best of both."""
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    best = solve(problem, "mbe")
    first = solve(problem, Sampling(), max_iterations=10, checkpoint=tmp_path / "c")
    assert first.cost != best.cost
    again = solve(
        problem, Sampling(), max_iterations=20, initial=best.assignment, checkpoint=tmp_path / "c", resume=True
    )
    assert again.cost == best.cost
    assert again.iterations == 20


def test_a_resumed_run_equals_the_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping anywhere and resuming gives the same trace and answer."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    whole = solve(problem, Sampling(), max_iterations=100)
    path = tmp_path / "c"
    solve(problem, Sampling(), max_iterations=30, checkpoint=path)
    solve(problem, Sampling(), max_iterations=60, checkpoint=path, resume=True)
    rest = solve(problem, Sampling(), max_iterations=100, checkpoint=path, resume=True)
    assert np.array_equal(rest.trace.iteration_costs, whole.trace.iteration_costs)
    assert [row[1:] for row in rest.trace.improvements] == [row[1:] for row in whole.trace.improvements]
    assert np.array_equal(rest.assignment, whole.assignment)
    with pytest.raises(CheckpointError, match="another problem"):
        solve(generate("random-cop", seed=1), Sampling(), checkpoint=path, resume=True)
    with pytest.raises(CheckpointError, match="was made by"):
        solve(problem, Sampling(), seed=1, checkpoint=path, resume=True)


@pytest.mark.parametrize(
    ("changes", "options"),
    [({"pool": [1.0, 0.0, 0.0, 1.0]}, {}), ({}, {"fix": {"x0": 1}}), ({"constant": 2.0}, {}), ({"limit": 7.0}, {})],
)
def test_what_presolve_makes_equal_is_told_apart(
    tmp_path: Path, changes: dict[str, Any], options: dict[str, Any]
) -> None:
    """Presolve leaves nothing of small problems: a checkpoint belongs to one of them and to what was fixed."""
    problem, path = Problem([2, 2], [0, 1], [0, 2], [0.0, 1.0, 1.0, 0.0], [0, 4]), tmp_path / "c"
    solve(problem, "auto", fix={"x0": 0}, checkpoint=path)
    with pytest.raises(CheckpointError, match="belongs to another problem"):
        solve(problem.replace(**changes), "auto", **{"fix": {"x0": 0}, **options}, checkpoint=path, resume=True)
    assert solve(problem, "auto", fix={"x0": 0}, checkpoint=path, resume=True).values == {"x0": 0, "x1": 0}


def test_long_traces_are_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the best of each block is kept, so it is in a checkpoint."""
    monkeypatch.setattr(trace, "KEPT", 20)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    path = tmp_path / "c"
    first = solve(problem, Sampling(), max_iterations=50, checkpoint=path)
    again = solve(problem, Sampling(), max_iterations=60, checkpoint=path, resume=True)
    assert first.trace.iterations == 50
    assert again.trace.iterations == 60
    assert np.array_equal(again.trace.iteration_costs[:50], first.trace.iteration_costs)
