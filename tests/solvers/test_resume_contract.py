"""The contract of every solver that can be saved: stopped and resumed, it is the run that was never stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.driver.checkpoint import file, schedule
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
    monkeypatch.setattr(schedule, "CAPTURE_SECONDS", 0.0)
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


@pytest.mark.parametrize("name", SAVED)
def test_wild_values_never_reach_a_kernel(problem: Problem, name: str, tmp_path: Path) -> None:
    """A well-made file whose search holds values that do not exist, or arrays of another kind, is refused by name."""
    path = tmp_path / "c"
    run(problem, name, max_iterations=5, checkpoint=path)
    origin = file.Origin(identity(problem, None), f"{make_solver(name)!r} seed 3")
    contents, _ = file.load(path, origin, lambda _: None)
    for key, value in contents.items():
        if not key.startswith("search.") or not isinstance(value, np.ndarray) or not value.size:
            continue
        wild = [] if value.dtype.kind == "f" or name in ANEW else [value.astype(np.float64)]
        if value.shape[-1] == problem.num_variables and key.endswith((".values", ".best", ".x")) | (name in ANEW):
            wild += [np.full_like(value, 6), np.full_like(value, -1), np.full_like(value, 2**40)]
        for changed in wild:
            path.unlink(missing_ok=True)
            file.save(path, {**contents, key: changed}, origin)
            with pytest.raises(CheckpointError, match=f"^{path}: its search"):
                run(problem, name, checkpoint=path, resume=True)
