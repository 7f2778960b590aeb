"""Moves on the table of local costs."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.local_search import moves
from dabp.kernels.local_search.moves import move_now, remember_now
from dabp.kernels.local_search.search_arrays import BEST, FEASIBLE, SOFT, VIOLATIONS, WEIGHTED
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.kernels.alone import alone
from tests.problems import random_problem

reweigh = alone(moves.reweigh)


@pytest.mark.parametrize("seed", range(40))
def test_moves_keep_the_table_right(seed: int) -> None:
    """After moves and new weights everything equals what is made anew, costs are the problem's, the best is kept."""
    problem = random_problem(seed, maximize=False)
    local = LocalCosts(problem)
    if local.infeasible:
        return
    rng = np.random.default_rng(seed)
    state, again = local.state(0), local.state(0)
    local.put(state, local.random_assignment(rng))
    remember_now(state)
    best = problem.cost(state.x)
    for _ in range(20):
        i = int(rng.integers(problem.num_variables))
        row = local.costs.rows.start[i]
        move_now(
            local.costs, state, i, int(rng.choice(np.flatnonzero(local.allowed[row : row + local.costs.rows.size[i]])))
        )
        remember_now(state)
        if state.tally[VIOLATIONS] and rng.random() < 0.3:
            reweigh(local.costs, state, int(state.violated[0]), 3)
        again.weights[:] = state.weights
        local.put(again, state.x)
        np.testing.assert_array_equal(again.local, state.local)
        for number in (SOFT, WEIGHTED, VIOLATIONS):
            assert again.tally[number] == state.tally[number]
        cost = problem.cost(state.x)
        best = min(best, cost)
        assert (state.tally[VIOLATIONS] > 0) == np.isinf(cost)
        if np.isfinite(cost):
            assert local.units.cost(state.tally[SOFT]) == pytest.approx(cost, abs=1e-9)
            assert local.units.of(state.x) == state.tally[SOFT] >= local.units.floor
        assert bool(state.tally[FEASIBLE]) == np.isfinite(best)
        if np.isfinite(best):
            assert problem.cost(state.best) == pytest.approx(best, abs=1e-9)
            assert local.units.cost(state.tally[BEST]) == pytest.approx(best, abs=1e-9)
