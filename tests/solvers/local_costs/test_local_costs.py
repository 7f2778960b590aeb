"""A problem compiled for local search."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.search_states import sound


def test_proofs_that_lie_open() -> None:
    """A variable without an allowed value proves infeasibility; a value forbidden by itself is never taken."""
    assert LocalCosts(Problem([2], [0], [0, 1], [np.inf, np.inf], [0, 2])).infeasible
    local = LocalCosts(Problem([2], [0], [0, 1], [np.inf, 4.0], [0, 2]))
    state = local.state(0)
    local.put(state, np.array([0]))
    assert not local.infeasible
    assert state.x.tolist() == [1]


@pytest.mark.parametrize("solver", ["annealing", "tabu"])
def test_weights_stay_in_range(solver: str) -> None:
    """On an infeasible problem of large costs, weights grow to their limit and no further."""
    triangle, clash = [0, 1, 1, 2, 0, 2], [np.inf, 2.0**20, 2.0**20, np.inf]
    problem = Problem([2, 2, 2], triangle, [0, 2, 4, 6], clash, [0, 4], [0, 0, 0])
    search = make_solver(solver).start(problem, seed=0, budget=Budget())
    for _ in range(200):
        assert np.isinf(search.step().costs).all()
    local, state = search.local, search.state
    assert 0 < state.weights.min() <= state.weights.max() <= local.units.heaviest * 3 // 2
    assert np.abs(state.local[local.allowed]).max() < local.units.pad // 2


def test_violations_weigh_half_but_no_less_than_at_first() -> None:
    """What a violation weighs falls back when an answer is known, and the table is sound after the next start."""
    differ = np.where(np.eye(3) > 0, np.inf, 7.0)
    problem = Problem.from_tables([3] * 4, [((i, i + 1), differ) for i in range(3)])
    local = LocalCosts(problem)
    state = local.state(0)
    first = state.weights.copy()
    state.weights[:] = [5 * first[0], first[1], 3 * first[2]]
    local.forgive(state)
    assert state.weights.tolist() == [5 * first[0] // 2, first[1], 3 * first[2] // 2]
    local.put(state, np.zeros(4, dtype=np.int64))
    sound(local, state)
