"""Moves of forests on a problem."""

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.forests import Forests
from tests.problems import drawn_problem


@pytest.mark.parametrize("hard", [0.0, 0.2])
def test_no_move_makes_it_worse_and_costs_are_those_of_the_problem(hard: float) -> None:
    """With forbidden combinations, too, which cost more than all else together."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        problem = drawn_problem(rng, dense=True, hard=hard)
        forests, state = Forests(problem), np.array([seed + 1], dtype=np.uint64)
        values = rng.integers(0, problem.domain_sizes)
        constant = None
        for _ in range(5):
            before = forests.cost(values)
            forests.move(values, state)
            assert forests.cost(values) <= before + 1e-9 * abs(before)
            if np.isfinite(cost := problem.cost(values)):
                constant = cost - forests.cost(values) if constant is None else constant
                assert forests.cost(values) + constant == pytest.approx(cost)


def test_what_is_forbidden_is_mended_first() -> None:
    """A chain whose neighbours must be equal, from values that are not: one move of the whole forest is enough."""
    equal = np.where(np.eye(3, dtype=bool), 0.0, np.inf)
    scopes = np.array([[0, 1], [1, 2], [2, 3]])
    unary = np.array([0.0, 5.0, 9.0])
    problem = Problem(
        [3] * 4,
        [*scopes.ravel(), 3],
        [0, 2, 4, 6, 7],
        np.concatenate([equal.ravel(), unary]),
        [0, 9, 12],
        [0, 0, 0, 1],
    )
    forests, values = Forests(problem), np.array([0, 1, 2, 1])
    state = np.array([1], dtype=np.uint64)
    for _ in range(10):
        forests.move(values, state)
    assert values.tolist() == [0, 0, 0, 0]
    assert np.isfinite(forests.last_costs).all()
