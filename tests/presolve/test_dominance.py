"""Values that another value of the same variable replaces."""

from __future__ import annotations

import numpy as np

from dabp.presolve.dominance import undominated_values
from dabp.presolve.effort import Effort
from dabp.presolve.restriction import Restricted
from dabp.problem import Problem
from tests.presolve.shapes import shared_pairs


def test_dominance_stops_within_a_variable() -> None:
    """A single variable of many values does not take all the time there is; what went is still replaced rightly."""
    size = 200
    table = np.repeat(np.arange(size, 0.0, -1.0)[:, None], size, axis=1) + np.eye(size) * 0.5
    problem = shared_pairs(np.array([[0, 1]]), table)
    assert undominated_values(problem)[0][:size].sum() == 1
    effort = Effort(size * size + 5000)
    kept, replacement = undominated_values(problem, effort)
    assert 1 < kept[:size].sum() < size
    assert kept[:size][replacement[:size]].all()
    assert effort.left == 0


def test_a_value_gives_way_to_the_last_of_those_that_replace_each_other() -> None:
    """Value 3 replaces 2, which has replaced 1: both project to 3, although 0 is the first value that stays."""
    other = [0.0, 9.0, 9.0, 9.0]
    dear = [[9.0, 7.0, 7.0, 7.0], [9.0, 6.0, 6.0, 6.0], [9.0, 5.0, 5.0, 5.0]]
    problem = Problem([4, 4], [1, 0], [0, 2], np.transpose([other, *dear]).ravel(), [0, 16])
    kept, replacement = undominated_values(problem)
    assert kept[:4].tolist() == [True, False, False, True]
    assert replacement[:4].tolist() == [0, 3, 3, 3]
    assert Restricted(problem, kept, replacement).project(np.array([1, 0]))[0] == 1
