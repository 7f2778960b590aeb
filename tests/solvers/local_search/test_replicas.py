"""Sweeps of many replicas: local costs equal differences of the problem's own, draws have the right distribution."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.local_search.replicas import Replicas


def _mixed(seed: int) -> Problem:
    """Domains of 2 to 9 values, factors of one to four variables, some sharing a table."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 10, 12)
    tables = []
    for _ in range(30):
        scope = tuple(rng.choice(12, rng.integers(1, 5), replace=False).tolist())
        tables.append((scope, rng.normal(size=[sizes[v] for v in scope]) * 10))
    return Problem.from_tables(sizes.tolist(), tables)


@pytest.mark.parametrize("seed", range(4))
def test_rises_are_differences_of_the_problems_cost(seed: int) -> None:
    """What another value costs more, for all variables and values of a mixed problem."""
    problem = _mixed(seed)
    replicas = Replicas(problem, np.random.default_rng(seed))
    values = replicas.random_assignments(3)
    owners, rises = replicas.rises(values, 100)
    expected = []
    for variable in range(problem.num_variables):
        now = values[:, 0].copy()
        for value in range(problem.domain_sizes[variable]):
            changed = now.copy()
            changed[variable] = value
            expected.append((problem.cost(changed) - problem.cost(now)) / replicas.scale)
    assert len(owners) == problem.domain_sizes.sum()
    np.testing.assert_allclose(np.sort(rises), np.sort(expected), atol=1e-5)


def test_sweeps_at_zero_end_in_local_minima() -> None:
    """No single change improves any replica, by the problem's own cost, and values stay within their domains."""
    problem = _mixed(7)
    replicas = Replicas(problem, np.random.default_rng(0))
    values = replicas.random_assignments(16)
    for _ in range(60):
        replicas.sweep(values, 0.0)
    assert (values < problem.domain_sizes[:, None]).all()
    for column in values.T:
        cost = problem.cost(column)
        for variable in range(problem.num_variables):
            for value in range(problem.domain_sizes[variable]):
                changed = column.copy()
                changed[variable] = value
                assert problem.cost(changed) >= cost - 1e-4


def test_draws_have_the_heat_baths_distribution() -> None:
    """P(x) ∝ exp(−cost / T) after many sweeps, on two variables whose nine assignments are counted."""
    rng = np.random.default_rng(3)
    table, own = rng.normal(size=(3, 3)), rng.normal(size=3)
    problem = Problem.from_tables([3, 3], [((0, 1), table), ((0,), own)])
    replicas = Replicas(problem, rng)
    values = replicas.random_assignments(4000)
    counts = np.zeros((3, 3))
    for sweep in range(60):
        replicas.sweep(values, 0.8 / replicas.scale)
        if sweep >= 10:
            np.add.at(counts, (values[0], values[1]), 1)
    weights = np.exp(-(table + own[:, None]) / 0.8)
    np.testing.assert_allclose(counts / counts.sum(), weights / weights.sum(), atol=0.01)
