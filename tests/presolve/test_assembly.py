"""A problem put together again."""

from __future__ import annotations

import numpy as np

from dabp.presolve.assembly import Factors, rebuilt, unary_factors
from dabp.problem import Problem
from tests.problems import all_assignments, random_problem


def test_only_what_costs_something_becomes_a_factor() -> None:
    """Variables whose costs are all zero have none."""
    made = unary_factors(np.array([0.0, 0.0, 1.0, 0.0, 0.0, np.inf]), np.array([0, 2, 4, 6]))
    assert (made.count, made.scope_variables.tolist()) == (2, [1, 2])
    assert made.pool.tolist() == [1.0, 0.0, 0.0, np.inf]


def test_kept_and_added_factors_cost_what_they_did() -> None:
    """For every assignment: the costs of the kept factors, the added ones and the constant."""
    for seed in range(40):
        problem = random_problem(seed, maximize=False)
        kept = np.flatnonzero(np.arange(problem.num_factors) % 2 == 0)
        size = int(problem.domain_sizes[0])
        added = Factors(np.array([0]), np.array([0, 1]), np.arange(size) * 3.0, np.array([0, size]))
        again = rebuilt(problem, kept, (added,), 5.0)
        for row in all_assignments(problem)[::7]:
            expected = problem.factor_costs(row)[kept].sum() + 3.0 * row[0] + 5.0
            assert np.isclose(again.cost(row), expected) or again.cost(row) == expected


def test_tables_that_nobody_uses_are_gone() -> None:
    """Factors that share one keep sharing it."""
    problem = Problem([2, 2], [0, 1, 0], [0, 1, 2, 3], [1, 2, 3, 4], [0, 2, 4], [0, 1, 0])
    again = rebuilt(problem, np.array([0, 2]), (), 0.0)
    assert (again.pool.tolist(), again.factor_table.tolist()) == ([1, 2], [0, 0])
