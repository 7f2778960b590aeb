"""Local search after runs: only where it can help, from the answer that it is given, the best of what it passed."""

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.belief_propagation import on_table
from dabp.solvers.belief_propagation.on_table import OnTable, may_search
from tests.problems import random_problem


def test_large_and_trivial_problems_are_left_alone(monkeypatch):
    """One assignment, or more entries of scopes than are worth it."""
    assert may_search(random_problem(3))
    assert not may_search(Problem.from_tables([1, 1], [((0, 1), np.ones((1, 1)))]))
    monkeypatch.setattr(on_table, "ENTRIES", 1)
    assert not may_search(dabp.generate("random-cop", variables=10, domain=3, density=0.5, seed=1))


def test_the_best_is_that_of_this_start():
    """A worse start later does not hand out what was found from a better one before."""
    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=1)
    table = OnTable(problem, Guard())
    assert table.prepared()
    rng = np.random.default_rng(0)
    for _ in range(5):
        start = rng.integers(0, 4, 12)
        table.put(start, rng.random())
        assert np.array_equal(table.best(), start)


@pytest.mark.parametrize("forbidden", [0, 1])
def test_what_is_impossible_is_not_prepared(forbidden):
    """A variable all of whose values are forbidden leaves nothing to move on."""
    unary = np.array([np.inf, np.inf]) if forbidden else np.array([0.0, np.inf])
    problem = Problem.from_tables([2, 2], [((0,), unary), ((0, 1), np.eye(2))])
    assert OnTable(problem, Guard()).prepared() == (not forbidden)


def test_a_solve_that_is_over_prepares_nothing():
    """The guard is asked before the table is made."""
    problem = dabp.generate("random-cop", variables=12, domain=4, density=0.5, seed=1)
    assert not OnTable(problem, Guard(time_limit=0.0)).prepared()
