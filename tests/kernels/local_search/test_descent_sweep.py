"""One sweep of descent: each variable in turn is at its cheapest value given the others."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.descent import Descent
from tests.problems import random_problem


def _swept(problem: Problem) -> tuple[np.ndarray, int]:
    """By the definition: every value of every variable is tried in turn; and how many changed."""
    values, changes = np.zeros(problem.num_variables, dtype=np.int64), 0
    for variable, size in enumerate(problem.domain_sizes):
        tried = np.tile(values, (size, 1))
        tried[:, variable] = np.arange(size)
        costs = problem.cost(tried)
        if costs.min() < costs[values[variable]] - 1e-9:
            changes += 1
            values[variable] = costs.argmin()
    return values, changes


@pytest.mark.parametrize("wide", [False, True])
def test_a_sweep_follows_the_definition(wide: bool) -> None:
    """The same values as trying every value of every variable in turn, for any arity; with words of either length."""
    for seed in range(40):
        problem = random_problem(seed, maximize=False)
        if np.isinf(problem.pool).any():
            continue
        slow, changes = _swept(problem)
        descent = Descent(problem, wide=wide)
        fast = descent.compact(np.zeros(problem.num_variables, dtype=np.int64))
        assert descent.turns(fast, 0, problem.num_variables) == changes
        assert problem.cost(fast.astype(np.int64)) == problem.cost(slow)


def test_domains_beyond_a_byte() -> None:
    """Values have as many bits as they need."""
    rng = np.random.default_rng(0)
    tables = [((0, 1), rng.integers(0, 99, (300, 4))), ((1, 2), rng.integers(0, 99, (4, 3))), ((0,), np.arange(300))]
    problem = Problem.from_tables([300, 4, 3], tables)
    slow, changes = _swept(problem)
    descent = Descent(problem)
    fast = descent.compact(np.zeros(3, dtype=np.int64))
    assert descent.turns(fast, 0, 3) == changes
    assert fast.tolist() == slow.tolist()


def test_records_are_written_as_they_are_needed() -> None:
    """In pieces or all at once: the same turns."""
    problem = random_problem(5, maximize=False)
    start = np.zeros(problem.num_variables, dtype=np.int64)
    whole, part = Descent(problem), Descent(problem, first_piece=1)
    at_once = whole.compact(start)
    whole.turns(at_once, 0, problem.num_variables)
    piecewise = part.compact(start)
    for variable in range(problem.num_variables):
        part.turns(piecewise, variable, variable + 1)
    assert piecewise.tolist() == at_once.tolist()
