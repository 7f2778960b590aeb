"""Moves on the table of local costs."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.local_search import moves
from dabp.kernels.local_search.moves import move_now
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.kernels.alone import alone
from tests.problems import random_problem
from tests.search_states import sound

reweigh = alone(moves.reweigh)


@pytest.mark.parametrize("seed", range(40))
def test_moves_keep_the_table_right(seed: int) -> None:
    """After moves and new weights everything equals what is made anew, costs are the problem's, the best is kept."""
    problem = random_problem(seed, maximize=False)
    local = LocalCosts(problem)
    if local.infeasible:
        return
    rng = np.random.default_rng(seed)
    state = local.state(0)
    local.put(state, local.random_assignment(rng))
    local.remember(state)
    best = problem.cost(state.x)
    for _ in range(20):
        i = int(rng.integers(problem.num_variables))
        row = local.costs.rows.start[i]
        allowed = np.flatnonzero(local.allowed[row : row + local.costs.rows.size[i]])
        move_now(local.costs, state, i, int(rng.choice(allowed)))
        local.remember(state)
        if state.tally["violations"] and rng.random() < 0.3:
            reweigh(local.costs, state, int(state.violated[0]), 3)
        sound(local, state)
        cost = problem.cost(state.x)
        best = min(best, cost)
        assert (state.tally["violations"] > 0) == np.isinf(cost)
        if np.isfinite(cost):
            assert local.units.cost(state.tally["soft"]) == pytest.approx(cost, abs=1e-9)
            assert local.units.of(state.x) == state.tally["soft"] >= local.units.floor
        assert bool(state.tally["feasible"]) == np.isfinite(best)
        if np.isfinite(best):
            assert problem.cost(state.best) == pytest.approx(best, abs=1e-9)
            assert local.units.cost(state.tally["best"]) == pytest.approx(best, abs=1e-9)
