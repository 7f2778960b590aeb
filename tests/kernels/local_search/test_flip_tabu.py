"""Steps of tabu search over flips."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.local_search.search_arrays import BEST, SOFT
from dabp.kernels.local_search.tabu_moves import STEP, Rules
from dabp.solvers.local_costs.binary_costs import BinaryCosts
from tests.binary_problems import torus


@pytest.mark.parametrize("kind", ["signs", "real"])
def test_each_step_is_the_best_open_flip(kind: str) -> None:
    """What is kept by blocks chooses as a scan of all flips would: least change among those not tabu."""
    rng = np.random.default_rng(4)
    weights = rng.choice([-1.0, 1.0], 2 * 14**2) if kind == "signs" else rng.normal(size=2 * 14**2)
    problem = torus(14, weights, maximize=False)
    binary = BinaryCosts(problem)
    state, moves = binary.state(2), binary.moves(20)
    binary.put(state, binary.random_assignment(rng))
    binary.remember(state)
    binary.open_all(state, moves)
    rules = Rules(steps=1, tenure=10, spread=10, patience=1, increment=1)
    count, seen = problem.num_variables, 0
    for _ in range(500):
        before = state.step[:count].copy()
        change = before.astype(np.int64) * state.field[:count]
        open_now = (moves.closed[:count] == 0) | (moves.until[:count] <= moves.clock[STEP])
        cost, best = int(state.tally[SOFT]), int(state.tally[BEST])
        binary.tabu(state, moves, rules, np.zeros(1, dtype=np.int64))
        wanted = change.min() if cost + change.min() < best else change[open_now].min()
        assert (state.step[:count] != before).sum() == 1
        assert state.tally[SOFT] - cost == wanted
        seen += int((~open_now).sum())
    assert seen > 0
