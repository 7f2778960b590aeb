"""Windows improve what they are given, and end where no window is better."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.problem import Assignment, Problem
from dabp.solvers.auto.windows import Windows
from dabp.solvers.base import Budget, Search
from dabp.solvers.graph_cut.expansion import Expansion
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum


def grid(seed: int, side: int, labels: int = 3) -> Problem:
    """Potts and other attractive tables on a grid."""
    rng = np.random.default_rng(seed)
    tables = [((i,), rng.integers(0, 20, labels) * 1.0) for i in range(side * side)]
    for i in range(side * side):
        for j in ([i + 1] if (i + 1) % side else []) + ([i + side] if i + side < side * side else []):
            points = rng.integers(0, 15, labels)
            tables.append(((i, j), np.abs(np.subtract.outer(points, points)) * 1.0))
    return Problem.from_tables([labels] * (side * side), tables)


def end_of(search: Search) -> tuple[Assignment, float]:
    """Step until it has finished; what it told costs what it says, and each time less."""
    best: tuple[Assignment, float] = (np.zeros(0, dtype=np.int64), np.inf)
    for _ in range(10_000):
        step = search.step()
        if step.best is not None:
            assert step.best_cost < best[1]
            best = step.best, step.best_cost
        if step.finished is not None:
            assert step.finished is Status.CONVERGED
            return best
    raise AssertionError("it does not end")


def test_small_images_are_solved() -> None:
    """A problem within one window whose relaxation is tight; against exhaustive search."""
    for seed in range(10):
        problem = grid(seed, 3)
        start = np.full(9, seed % 3)
        optimum = exhaustive_optimum(problem)
        values, cost = end_of(Windows().start(problem, seed=0, budget=Budget(), initial=start))
        assert cost == optimum == problem.cost(values)


def test_never_worse_than_expansion() -> None:
    """Windows of a few variables, from where expansion ends, and with another labelling to make something of."""
    for seed in range(5):
        problem = grid(seed, 12, 4)
        search = Expansion().start(problem, seed=0, budget=Budget())
        step = search.step()
        while step.finished is None:
            step = search.step()
        assert step.best is not None
        other = np.random.default_rng(seed).integers(problem.domain_sizes)
        started = Windows(costs=200).start(problem, seed=1, budget=Budget(), initial=step.best)
        started.suggest(other)
        values, cost = end_of(started)
        assert cost <= step.best_cost
        assert cost == problem.cost(values)


def test_takes_what_is_better() -> None:
    """An offered assignment is where it goes on."""
    problem = grid(3, 8)
    optimum, cost = end_of(Windows().start(problem, seed=0, budget=Budget()))
    search = Windows(costs=1).start(problem, seed=0, budget=Budget(), initial=np.zeros(64, dtype=np.int64))
    search.offer(optimum, cost)
    assert end_of(search)[1] <= cost


def test_problems_without_windows() -> None:
    """Forbidden combinations and factors of three variables: the start is the answer, at once."""
    forbidding = Problem.from_tables([2, 2], [((0, 1), np.array([[0.0, np.inf], [1.0, 0.0]]))])
    ternary = Problem.from_tables([2, 2, 2], [((0, 1, 2), np.arange(8.0).reshape(2, 2, 2))])
    for problem in (forbidding, ternary):
        step = Windows().start(problem, seed=0, budget=Budget()).step()
        assert step.finished is Status.CONVERGED
        assert step.best is not None
        assert step.best_cost == problem.cost(step.best)


@pytest.mark.parametrize("params", [{"costs": 0}, {"growth": 1}])
def test_parameters_are_checked(params: dict[str, int]) -> None:
    """A window has costs, and the next size is larger."""
    with pytest.raises(ParameterError, match="at least"):
        Windows(**params)
