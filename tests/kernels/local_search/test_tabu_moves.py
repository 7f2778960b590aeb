"""Steps of tabu search."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.kernels.local_search.tabu_moves import STEP, Rules, tabu
from dabp.solvers.base import Budget
from dabp.solvers.local_search.tabu import Tabu


@pytest.mark.parametrize("family", ["random-cop", "graph-coloring"])
def test_each_step_is_the_best_open_move(family: str) -> None:
    """What is kept incrementally chooses as a scan of all moves would: least change among those not tabu."""
    problem = dabp.generate(family, variables=70, density=0.1, seed=3)
    search = Tabu(tenure=6).start(problem, seed=5, budget=Budget())
    state, moves, costs = search.state, search._moves, search.local.costs
    rules = Rules(steps=1, tenure=3, spread=6, patience=10, increment=1)
    for _ in range(300):
        before, change = (
            state.x.copy(),
            state.local - np.repeat(state.local[costs.rows.start + state.x], costs.rows.width),
        )
        tabu_now = (moves.until >= moves.clock[STEP] + 1) & (moves.closed > 0)
        tabu_now[costs.rows.start + state.x] = True
        cost, level = search.local.units.of(before), search.local.units.of(state.best)
        open_best, any_best = change[~tabu_now & search.local.allowed].min(), change[search.local.allowed].min()
        tabu(costs, state, moves, rules, np.zeros(1, dtype=np.int64))
        assert (state.x != before).sum() == 1
        wanted = any_best if cost + any_best < level else open_best
        assert search.local.units.of(state.x) - cost == wanted
