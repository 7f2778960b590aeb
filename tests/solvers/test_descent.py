"""Descent to a first answer: never worse, locally optimal, and interruptible."""

from __future__ import annotations

import numpy as np

from dabp.problem.guard import Guard
from dabp.solvers.descent import descended
from tests.problems import random_problem


def test_no_single_change_improves_it() -> None:
    """On problems of mixed arity with forbidden combinations: at most the start's cost, and a local minimum."""
    for seed in range(60):
        problem = random_problem(seed, maximize=False)
        start = np.zeros(problem.num_variables, dtype=np.int64)
        found = descended(problem, start, Guard())
        cost = problem.cost(found)
        assert cost <= problem.cost(start)
        for variable, size in enumerate(problem.domain_sizes):
            for value in range(size):
                other = found.copy()
                other[variable] = value
                assert not problem.cost(other) < cost - 1e-9


def test_a_guard_that_is_over_ends_it() -> None:
    """Without any time the start comes back."""
    problem = random_problem(3, maximize=False)
    start = np.zeros(problem.num_variables, dtype=np.int64)
    assert descended(problem, start, Guard(0.0)).tolist() == start.tolist()
