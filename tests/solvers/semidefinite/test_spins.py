"""The quadratic form of a problem: its cost where all variables have two values, and never above it elsewhere."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Assignment, Problem
from dabp.solvers.semidefinite.spins import Spins, spins_of
from tests.problems import random_problem


def form(spins: Spins, values: Assignment) -> float:
    """The value of the form, by a dense matrix."""
    whole = np.append(values, 1)[spins.variable] * 2.0 - 1.0
    matrix, n = spins.matrix, len(spins.variable)
    dense = np.zeros((n, n))
    dense[np.repeat(np.arange(n), np.diff(matrix.offsets)), matrix.target] = matrix.weight
    assert np.array_equal(dense, dense.T)
    return float(0.5 * whole @ dense @ whole + spins.offset)


def test_equal_to_the_cost_of_two_valued_problems() -> None:
    """For every assignment, with repeated pairs and fields."""
    rng = np.random.default_rng(0)
    scopes = [(0,), (1, 2), (2, 1), (3, 0), (0, 2), (3,)]
    problem = Problem.from_tables([2] * 4, [(s, rng.integers(-9, 10, (2,) * len(s)) * 1.0) for s in scopes])
    spins = spins_of(problem)
    assert spins.error == 0.0
    for values in itertools.product(range(2), repeat=4):
        assert form(spins, np.array(values)) == pytest.approx(float(problem.cost(np.array(values))), abs=1e-9)


def test_never_above_the_cost_of_other_problems() -> None:
    """Whatever the domains, arities and forbidden combinations; variables of more values do not enter."""
    for seed in range(40):
        problem = random_problem(seed)
        if problem.maximize:
            problem = problem.replace(pool=-problem.pool, constant=-problem.constant, maximize=False)
        spins = spins_of(problem)
        for values in itertools.product(*(range(size) for size in problem.domain_sizes)):
            cost = float(problem.cost(np.array(values)))
            assert form(spins, np.minimum(values, 1)) <= cost + 1e-9
