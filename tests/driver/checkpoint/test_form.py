"""Contents that no run can have had are refused before anything of them is used."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dabp.driver.checkpoint import file
from dabp.driver.checkpoint.contents import identity
from dabp.driver.checkpoint.form import check
from dabp.driver.solve import solve
from dabp.errors import CheckpointError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import State
from tests.sampling import Sampling


@pytest.fixture(scope="module")
def problem() -> Problem:
    return generate("random-cop", variables=8, domain=3, density=0.5, seed=0)


@pytest.fixture
def contents(problem: Problem, tmp_path: Path) -> State:
    """What a real run has written."""
    solve(problem, Sampling(bound=1.0), max_iterations=50, checkpoint=tmp_path / "real")
    origin = file.Origin(identity(problem, None), f"{Sampling(bound=1.0)!r} seed 0")
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


def test_what_a_run_writes_is_right(problem: Problem, contents: State) -> None:
    """Otherwise the rest of this file proves nothing; costs come out as the problem has them."""
    check(contents, problem)
    assert contents["best_cost"] == problem.cost(contents["best"])


@pytest.mark.parametrize("key", WRONG)
def test_wrong_and_missing_values_are_refused(problem: Problem, contents: State, key: str) -> None:
    """Every key: of another type, shape or range, or not there at all."""
    for value in WRONG[key]:
        with pytest.raises(CheckpointError):
            check({**contents, key: value}, problem)
    with pytest.raises(CheckpointError):
        check({name: value for name, value in contents.items() if name != key}, problem)


def test_the_file_is_named_and_nothing_of_it_is_believed(problem: Problem, tmp_path: Path, contents: State) -> None:
    """A well-made file that promises a cost its assignment does not have, or a search that is none."""
    origin = file.Origin(identity(problem, None), f"{Sampling(bound=1.0)!r} seed 0")
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
            solve(problem, Sampling(bound=1.0), max_iterations=60, checkpoint=path, resume=True)
