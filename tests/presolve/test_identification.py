"""Variables that are a function of another."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.presolve import presolve
from dabp.presolve.identification import Identified
from dabp.problem import Problem
from tests.problems import all_assignments, exhaustive


def _bound(rng: np.random.Generator, variables: int, domain: int, pairs: list[tuple[int, int]]) -> Problem:
    """Random costs between all, one factor of three variables, and bijections (with costs) between some pairs."""
    factors = [(scope, rng.integers(0, 9, (domain, domain))) for scope in itertools.combinations(range(variables), 2)]
    factors.append(((0, variables - 2, variables - 1), rng.integers(0, 9, (domain,) * 3)))
    for first, second in pairs:
        table = np.full((domain, domain), np.inf)
        table[np.arange(domain), rng.permutation(domain)] = rng.integers(0, 9, domain)
        factors.append(((first, second), table))
    return Problem(
        [domain] * variables,
        [variable for scope, _ in factors for variable in scope],
        np.cumsum([0, *(len(scope) for scope, _ in factors)]),
        np.concatenate([np.ravel(table).astype(float) for _, table in factors]),
        np.cumsum([0, *(np.size(table) for _, table in factors)]),
    )


@pytest.mark.parametrize("pairs", [[(0, 1)], [(1, 0), (2, 3)], [(0, 1), (1, 2)], [(3, 0), (3, 1), (3, 2)]])
def test_costs_stay_on_what_is_left(pairs: list[tuple[int, int]]) -> None:
    """Every assignment of the smaller problem costs what its lift does, and is the projection of it."""
    for seed in range(10):
        problem = _bound(np.random.default_rng(seed), 4, 3, pairs)
        identified = Identified(problem)
        assert identified.removed >= 1
        assert identified.problem.num_variables == 4 - identified.removed
        for row in all_assignments(identified.problem):
            lifted = identified.lift(row)
            assert problem.cost(lifted) == identified.problem.cost(row)
            np.testing.assert_array_equal(identified.project(lifted), row)
        assert exhaustive(identified.problem)[0] == exhaustive(problem)[0]


def test_chains_are_followed_to_their_end() -> None:
    """Presolve goes on until one variable is left of a chain, and says so."""
    problem = _bound(np.random.default_rng(1), 6, 3, [(0, 1), (1, 2), (2, 3)])
    reduced = presolve(problem, solve_small=False)
    assert reduced.facts.identified_variables == 3
    assert "3 that follow from others" in reduced.facts.line()
    least, best = exhaustive(reduced.problem)
    assert least == exhaustive(problem)[0] == problem.cost(reduced.lift(best))


def test_what_is_no_function_stays() -> None:
    """One more pair allowed, or one value without a partner, and both variables stay."""
    table = np.where(np.eye(3, dtype=bool), 0.0, np.inf)
    more, fewer = table.copy(), table.copy()
    more[0, 1] = 5.0
    fewer[0, :] = [np.inf, 0.0, np.inf]
    for each in (more, fewer, np.zeros((3, 3))):
        problem = Problem([3, 3], [0, 1], [0, 2], each.ravel(), [0, 9])
        assert Identified(problem).removed == 0
        assert Identified(problem).problem is problem
