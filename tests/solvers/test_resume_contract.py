"""The contract of every solver that can be saved: stopped and resumed, it is the run that was never stopped."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dabp
from dabp.driver.checkpoint import file, saving
from dabp.driver.checkpoint.contents import identity
from dabp.driver.result import Result
from dabp.driver.stopping import Progress
from dabp.errors import CheckpointError
from dabp.problem import Problem
from dabp.solvers import SOLVERS, make_solver
from dabp.solvers.status import Status

SAVED = [name for name in SOLVERS if make_solver(name).checkpoints]
ANEW = ("auto",)
"""Those whose members start anew from the best answer: theirs is never worse, but not the same run."""


@pytest.fixture(scope="module")
def problem() -> Problem:
    """Small, and far from solved after the iterations below."""
    return dabp.generate("random-cop", variables=30, domain=6, density=0.3, seed=5)


def iterations(name: str) -> int:
    """Enough for several blocks and, for DABP, several windows."""
    return 60 if name.startswith(("dabp", "gat-pcm")) else 120


def run(problem: Problem, name: str, **options: object) -> Result:
    """With nothing that depends on the clock."""
    return dabp.solve(problem, name, **{"seed": 3, "max_iterations": iterations(name), **options})


@pytest.mark.parametrize("name", SAVED)
def test_stopped_and_resumed_is_uninterrupted(
    problem: Problem, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same costs, iteration by iteration, and the same answer, wherever it was stopped."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    whole = run(problem, name)
    for stop in (1, iterations(name) // 2):
        path = tmp_path / f"{stop}"

        def stopping(progress: Progress, stop: int = stop) -> bool:
            return progress.iterations >= stop

        part = run(problem, name, checkpoint=path, callbacks=[stopping])
        again = run(problem, name, checkpoint=path, resume=True)
        assert again.iterations >= part.iterations
        assert part.cost is not None
        assert again.cost is not None
        if name in ANEW:
            assert again.cost <= part.cost
        else:
            assert np.array_equal(again.trace.iteration_costs, whole.trace.iteration_costs)
            assert (again.cost, again.status, again.limit) == (whole.cost, whole.status, whole.limit)
            assert np.array_equal(again.assignment, whole.assignment)


@pytest.fixture(scope="module")
def flips() -> Problem:
    """Binary, so that local search goes by flips."""
    return dabp.generate("random-cop", variables=70, domain=2, density=0.2, seed=5)


@pytest.fixture(scope="module")
def hard() -> Problem:
    """Four colours where many neighbours forbid each other: local search weighs what is violated."""
    problem = dabp.generate("random-cop", variables=30, domain=4, density=0.4, seed=6)
    return problem.replace(pool=np.where(problem.pool > 80, np.inf, problem.pool))


@pytest.mark.parametrize("kind", ["flips", "hard"])
@pytest.mark.parametrize("name", ["annealing", "tabu"])
def test_local_search_resumes_on_every_kind_of_table(
    name: str, kind: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    """Binary problems and violated ones have states of their own, which come back as they were."""
    other, path = request.getfixturevalue(kind), tmp_path / "c"
    run(other, name, checkpoint=path, callbacks=[lambda progress: progress.iterations >= 40])
    again, whole = run(other, name, checkpoint=path, resume=True), run(other, name)
    assert np.array_equal(again.trace.iteration_costs, whole.trace.iteration_costs)
    assert (again.cost, again.status) == (whole.cost, whole.status)


@pytest.mark.parametrize("name", SAVED)
def test_a_run_at_its_limit_goes_on_with_a_larger_one_only(problem: Problem, name: str, tmp_path: Path) -> None:
    """Resumed with the same limit nothing is done; with a larger one it reaches that, and ends."""
    path, few, more = tmp_path / "c", 20, 40
    first = run(problem, name, max_iterations=few, checkpoint=path, time_limit=100)
    if first.status is not Status.LIMIT:
        pytest.skip(f"{name} has ended by itself after {first.iterations} iterations")
    again = run(problem, name, max_iterations=few, checkpoint=path, resume=True, time_limit=100)
    assert (again.iterations, again.cost, again.limit) == (first.iterations, first.cost, first.limit)
    further = run(problem, name, max_iterations=more, checkpoint=path, resume=True, time_limit=100)
    assert further.status in (Status.LIMIT, Status.CONVERGED, Status.OPTIMAL)
    assert further.limit in (None, "iteration limit")
    assert further.limit is None or further.iterations >= more
    assert further.cost is not None
    assert first.cost is not None
    assert further.cost <= first.cost


def wild(value: np.ndarray) -> list[np.ndarray]:
    """Arrays of the same form that no search has written: too large, negative, shuffled, no numbers."""
    if value.dtype.kind == "b":
        return [~value]
    if value.dtype.kind == "f":
        return [np.full_like(value, np.nan), np.full_like(value, np.inf)]
    rng = np.random.default_rng(1)
    shuffled = rng.permutation(value.reshape(-1)).reshape(value.shape)
    huge = np.iinfo(value.dtype).max // 2
    return [
        np.full_like(value, 6),
        np.full_like(value, huge),
        *([] if value.dtype.kind == "u" else [-value - 2]),
        shuffled,
    ]


@pytest.mark.parametrize("kind", ["rows", "flips"])
@pytest.mark.parametrize("name", [name for name in SAVED if not name.startswith("dabp-")])
def test_wild_values_never_reach_a_kernel(
    problem: Problem, flips: Problem, kind: str, name: str, tmp_path: Path
) -> None:
    """A well-made file with wild arrays is refused by name, or goes on to an answer that is one."""
    if kind == "flips":
        if name not in ("tabu", "annealing"):
            return
        problem = flips
    path = tmp_path / "c"
    run(problem, name, max_iterations=5, checkpoint=path)
    origin = file.Origin(identity(problem, None), f"{make_solver(name)!r} seed 3")
    contents, _ = file.load(path, origin, lambda _: None)
    said = []
    arrays = {key: value for key, value in contents.items() if key.startswith("search.") and np.size(value)}
    for key, value in list(arrays.items())[:: 8 if name == "dabp" else 1]:  # of its many parameters a share
        if not isinstance(value, np.ndarray):
            continue
        other_kind = [] if value.dtype.kind == "f" or name in ANEW else [value.astype(np.float64)]
        for changed in [*other_kind, *wild(value)]:
            path.unlink(missing_ok=True)
            file.save(path, {**contents, key: changed}, origin)
            try:
                again = run(problem, name, checkpoint=path, resume=True, max_iterations=10, time_limit=20)
            except CheckpointError as error:
                said.append(str(error))
            else:
                assert again.cost == problem.cost(again.assignment)
    assert all(each.startswith(f"{path}: its search") for each in said), said
    assert said or name in ("mbe", *ANEW)


@pytest.mark.parametrize("name", [name for name in SAVED if not name.startswith("dabp-")])
def test_missing_and_foreign_values_are_refused_by_name(problem: Problem, name: str, tmp_path: Path) -> None:
    """Each entry of a search left out, or of another type: a sentence with the file's name, never another error."""
    path = tmp_path / "c"
    run(problem, name, max_iterations=5, checkpoint=path)
    origin = file.Origin(identity(problem, None), f"{make_solver(name)!r} seed 3")
    contents, _ = file.load(path, origin, lambda _: None)
    said = []
    for key in [key for key in contents if key.startswith("search.")][:: 8 if name == "dabp" else 1]:
        for value in (None, "x", -7, [1]):
            changed = {other: each for other, each in contents.items() if other != key}
            if value is not None:
                changed[key] = value
            path.unlink(missing_ok=True)
            file.save(path, changed, origin)
            try:
                again = run(problem, name, checkpoint=path, resume=True, max_iterations=10, time_limit=20)
            except CheckpointError as error:
                said.append(str(error))
            else:
                assert again.cost == problem.cost(again.assignment)
    assert all(each.startswith(f"{path}: its search") for each in said), said


@pytest.mark.parametrize("name", SAVED)
def test_what_memory_held_before_is_not_looked_at(
    problem: Problem, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A search is resumed wherever its arrays come to lie: fresh memory may hold anything."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    path = tmp_path / "saved"
    part = run(problem, name, checkpoint=path, max_iterations=iterations(name) // 2)
    empty = np.empty

    def full(*arguments: Any, **options: Any) -> np.ndarray:
        array = empty(*arguments, **options)
        if array.dtype.kind == "f":
            array.fill(np.nan)
        return np.asarray(array)

    monkeypatch.setattr(np, "empty", full)
    again = run(problem, name, checkpoint=path, resume=True)
    assert again.cost is not None
    assert part.cost is not None
    assert again.cost <= part.cost
