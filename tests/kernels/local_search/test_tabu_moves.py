"""Steps of tabu search."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.kernels.local_search.tabu_moves import Rules
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.shared_tables import shared_table
from tests.binary_problems import torus

RNG = np.random.default_rng(4)
PROBLEMS = {
    "integers": dabp.generate("random-cop", variables=70, density=0.1, seed=3),
    "reals": dabp.generate("graph-coloring", variables=70, density=0.1, seed=3),
    "signs": torus(14, RNG.choice([-1.0, 1.0], 2 * 14**2), maximize=False),
    "real flips": torus(14, RNG.normal(size=2 * 14**2), maximize=False),
}


def _changes(problem: Problem, x: np.ndarray) -> np.ndarray:
    """What each value of each variable would change of the cost, [variables, values]."""
    rows = np.repeat(x[None, None], problem.domain_sizes.max(), axis=0).repeat(len(x), axis=1)
    for i in range(len(x)):
        rows[:, i, i] = np.arange(len(rows))
    return (problem.cost(rows.reshape(-1, len(x))) - problem.cost(x)).reshape(len(rows), len(x)).T


@pytest.mark.parametrize("kind", PROBLEMS)
def test_each_step_is_the_best_open_move(kind: str) -> None:
    """What is kept incrementally chooses as a scan of all moves would: least change among those not tabu."""
    problem = PROBLEMS[kind]
    table = shared_table(problem, Guard())
    state, moves = table.state(5), table.moves(20)
    table.put(state, table.random_assignment(np.random.default_rng(1)))
    table.remember(state)
    table.open_all(state, moves)
    rules = Rules(steps=1, tenure=10, spread=10, patience=10, increment=1)
    seen, rows = 0, table.costs is not None
    start = table.costs.rows.start if rows else np.arange(problem.num_variables)
    for _ in range(200):
        x, step = table.decoded(state.x), int(moves.clock["step"])
        change = _changes(problem, x)
        best = problem.cost(table.best(state)) - problem.cost(x)
        others = np.arange(change.shape[1])[None] != x[:, None]
        places = start[:, None] + (np.arange(change.shape[1])[None] if rows else 0)
        open_now = others & (moves.until[places] <= step)
        seen += int((others & ~open_now).sum())
        table.tabu(state, moves, rules, np.zeros(1, dtype=np.int64))
        wanted = change[others].min() if change[others].min() < best - 1e-9 else change[open_now].min()
        after = table.decoded(state.x)
        assert (after != x).sum() == 1
        assert problem.cost(after) - problem.cost(x) == pytest.approx(wanted, abs=1e-9)
    assert seen > 0


@pytest.mark.parametrize("kind", ["integers", "signs"])
def test_what_is_tabu_is_taken_up_and_nothing_wild(kind: str) -> None:
    """A search resumed from its tabu steps goes on as before; steps that would never end are refused."""
    problem = PROBLEMS[kind]
    table, rules = shared_table(problem, Guard()), Rules(50, 10, 20, 10, 1)
    first, second, moves, again = table.state(5), table.state(0), table.moves(20), table.moves(20)
    table.put(first, np.zeros(problem.num_variables, dtype=np.int64))
    table.open_all(first, moves)
    costs = np.zeros((2, 20), dtype=np.int64)
    table.tabu(first, moves, rules, costs[0])
    table.restore(second, table.saved(first))
    until, step, minima = moves.until.copy(), int(moves.clock["step"]), int(moves.clock["minima"])
    table.resume(second, again, until, step, minima)
    table.tabu(first, moves, rules, costs[0])
    table.tabu(second, again, rules, costs[1])
    assert costs[0].tolist() == costs[1].tolist()
    for wild in ((until + 2**40, step, minima), (until, -1, minima), (until, step, -1), (until * 0 + step, step, 0)):
        with pytest.raises(ValueError, match="never end"):
            table.resume(second, again, *wild)
