"""A checkpoint has all that a run needs to go on and belongs to one problem; impossible contents are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dabp.driver import trace
from dabp.driver.checkpoint import file, saving
from dabp.driver.checkpoint.contents import Captured, check, identity, restore
from dabp.driver.running import RunningSolve
from dabp.driver.solve import solve
from dabp.errors import CheckpointError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import Budget, State
from dabp.solvers.clock import Clock
from tests.sampling import Sampling

PROBLEM = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)


def test_a_run_comes_back_from_its_contents() -> None:
    """Iterations, bound, incumbent, trace and time; an incumbent found after the boundary is not lost."""
    search = Sampling().start(PROBLEM, seed=0, budget=Budget())
    run = RunningSolve(PROBLEM, "sampling", 0, Clock())
    step = search.step()
    run.record(step)
    worst, best = np.argmax(step.costs), np.argmin(step.costs)
    assert step.costs[worst] > step.costs[best]
    run.offer(np.zeros(8, dtype=np.int64), 1e6)
    run.tighten(-3.0)
    captured = Captured(search, run, PROBLEM)
    run.offer(step.best, float(step.costs[best]))
    again, fresh = RunningSolve(PROBLEM, "sampling", 0, Clock()), Sampling().start(PROBLEM, seed=0, budget=Budget())
    restore(captured.contents(run), fresh, again, PROBLEM)
    assert (again.progress.iterations, again.progress.bound, again.progress.cost) == (10, -3.0, step.costs[best])
    assert again.elapsed >= run.trace.blocks[-1][0]
    assert again.trace.iteration_costs.tolist() == run.trace.iteration_costs.tolist()
    assert len(again.trace.improvements) == 1
    assert np.array_equal(fresh.step().costs, search.step().costs)
    with pytest.raises(CheckpointError, match="another presolve"):
        restore(captured.contents(run), fresh, again, PROBLEM.replace(constant=1.0))


def test_a_better_start_given_to_a_resumed_run_is_not_lost(tmp_path: Path) -> None:
    """The state is the file's; the answer is the best of both."""
    best = solve(PROBLEM, "mbe")
    first = solve(PROBLEM, Sampling(), max_iterations=10, checkpoint=tmp_path / "c")
    assert first.cost != best.cost
    again = solve(
        PROBLEM, Sampling(), max_iterations=20, initial=best.assignment, checkpoint=tmp_path / "c", resume=True
    )
    assert again.cost == best.cost
    assert again.iterations == 20


def test_a_resumed_run_equals_the_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping anywhere and resuming gives the same trace and answer."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    whole = solve(PROBLEM, Sampling(), max_iterations=100)
    path = tmp_path / "c"
    solve(PROBLEM, Sampling(), max_iterations=30, checkpoint=path)
    solve(PROBLEM, Sampling(), max_iterations=60, checkpoint=path, resume=True)
    rest = solve(PROBLEM, Sampling(), max_iterations=100, checkpoint=path, resume=True)
    assert np.array_equal(rest.trace.iteration_costs, whole.trace.iteration_costs)
    assert [row[1:] for row in rest.trace.improvements] == [row[1:] for row in whole.trace.improvements]
    assert np.array_equal(rest.assignment, whole.assignment)
    with pytest.raises(CheckpointError, match="another problem"):
        solve(generate("random-cop", seed=1), Sampling(), checkpoint=path, resume=True)
    with pytest.raises(CheckpointError, match="was made by"):
        solve(PROBLEM, Sampling(), seed=1, checkpoint=path, resume=True)


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
    monkeypatch.setattr(trace, "KEPT_COSTS", 20)
    path = tmp_path / "c"
    first = solve(PROBLEM, Sampling(), max_iterations=50, checkpoint=path)
    again = solve(PROBLEM, Sampling(), max_iterations=60, checkpoint=path, resume=True)
    assert first.trace.iterations == 50
    assert again.trace.iterations == 60
    assert np.array_equal(again.trace.iteration_costs[:50], first.trace.iteration_costs)


@pytest.fixture
def contents(tmp_path: Path) -> State:
    """What a real run has written."""
    solve(PROBLEM, Sampling(bound=1.0), max_iterations=50, checkpoint=tmp_path / "real")
    origin = file.Origin(identity(PROBLEM, None), f"{Sampling(bound=1.0)!r} seed 0")
    return file.load(tmp_path / "real", origin, lambda _: None)[0]


WRONG: dict[str, list[Any]] = {
    "reduced": [None, 3],
    "elapsed": [None, "1", -1.0, float("nan"), float("inf"), True, [1.0]],
    "iterations": [None, 2.5, -1, "50", True],
    "last_improvement": [-1, 51, None, 1.5],
    "bound": ["low", float("nan"), float("-inf"), [1]],
    "best": [
        np.zeros(7, dtype=np.int64),
        np.full(8, 3),
        np.full(8, -1),
        np.zeros(8),
        np.zeros((1, 8), dtype=int),
        [0] * 8,
    ],
    "best_cost": [None, -5.0, float("nan"), "0"],
    "incumbent": [np.full(8, 2**40), np.zeros(8, dtype=np.int32), None],
    "incumbent_cost": [-1e9, None],
    "trace.costs": [np.zeros(3), np.zeros((50, 1)), None, np.full(50, np.nan), np.zeros(50, dtype=np.int64)],
    "trace.kept": [np.array([-1, 51]), np.zeros(5, dtype=np.int64), np.zeros(2)],
    "trace.blocks": [np.zeros((5, 2)), np.zeros((4, 2)), np.zeros((5, 3)), np.full((5, 2), 10.0)],
    "trace.improvements": [np.zeros((2, 2)), np.zeros(3), np.array([[0.1, np.inf, 3.0]])],
    "trace.bounds": [np.zeros((1, 4)), "none"],
    "trace_records": [None, {}, [1]],
}


def test_what_a_run_writes_is_right(contents: State) -> None:
    """Otherwise the rest of this file proves nothing; costs come out as the problem has them."""
    check(contents, PROBLEM)
    assert contents["best_cost"] == PROBLEM.cost(contents["best"])


@pytest.mark.parametrize("key", WRONG)
def test_wrong_and_missing_values_are_refused(contents: State, key: str) -> None:
    """Every key: of another type, shape or range, or not there at all."""
    for value in WRONG[key]:
        with pytest.raises(CheckpointError):
            check({**contents, key: value}, PROBLEM)
    with pytest.raises(CheckpointError):
        check({name: value for name, value in contents.items() if name != key}, PROBLEM)


def test_the_file_is_named_and_nothing_of_it_is_believed(tmp_path: Path, contents: State) -> None:
    """A well-made file that promises a cost its assignment does not have, or a search that is none."""
    origin = file.Origin(identity(PROBLEM, None), f"{Sampling(bound=1.0)!r} seed 0")
    path = tmp_path / "c"
    for change, message in (
        ({"incumbent_cost": contents["incumbent_cost"] - 1}, "its incumbent costs"),
        ({"search.rng": {"state": 3}}, "its search is not one of solver 'Sampling'"),
        ({"search.array": np.arange(4)}, "its search is not one of"),
        ({"search.array": np.zeros(3)}, "its search's array is of another kind"),
    ):
        path.unlink(missing_ok=True)
        file.save(path, {**contents, **change}, origin)
        with pytest.raises(CheckpointError, match=f"^{path}: {message}"):
            solve(PROBLEM, Sampling(bound=1.0), max_iterations=60, checkpoint=path, resume=True)
