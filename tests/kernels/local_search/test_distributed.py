"""Rounds of DSA and MGM."""

from __future__ import annotations

import itertools

import numpy as np

from dabp.kernels.local_search.distributed import dsa, mgm
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.problem import Problem
from dabp.solvers.local_costs.local_costs import LocalCosts


def test_equal_values_are_chosen_by_chance() -> None:
    """Where all values cost the same and everybody may move, a variable visits all of them about as often."""
    local = LocalCosts(Problem([11], [0], [0, 1], np.zeros(11), [0, 11]))
    state = local.state(3)
    local.put(state, np.array([0]))
    lowest, seen = np.zeros(1, dtype=np.int64), []
    for _ in range(4000):
        dsa(local.costs, state, np.zeros(1, dtype=np.int64), np.array([-NOTHING]), lowest, 1.0)
        seen.append(int(state.x[0]))
    assert all(a != b for a, b in itertools.pairwise(seen))
    assert np.bincount(seen, minlength=11).min() > 150


def test_of_two_equal_gains_the_first_variable_moves() -> None:
    """MGM never lets two neighbours move at once, and tells when nobody gains anything."""
    problem = Problem([2, 2], [0, 1], [0, 2], [9.0, 3.0, 3.0, 9.0], [0, 4])
    local = LocalCosts(problem)
    state = local.state(0)
    local.put(state, np.array([0, 0]))
    chosen, gain, lowest = (np.zeros(2, dtype=np.int64) for _ in range(3))
    assert mgm(local.costs, state, chosen, gain, lowest) == -2
    assert state.x.tolist() == [1, 0]
    assert state.tally["soft"] == 3
