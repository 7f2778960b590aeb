"""Exchanges of values, and what they cost."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.local_search.exchange import exchange_changes
from dabp.kernels.local_search.heat_bath import sweep
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.problem import Problem
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.permutations import permutation_problem
from tests.search_states import sound


def _weighted(local: LocalCosts, assignment: np.ndarray, weights: np.ndarray) -> int:
    """The weighted cost of an assignment, from scratch."""
    state = local.state(0)
    state.weights[:] = weights
    local.put(state, assignment)
    return int(state.tally["weighted"])


@pytest.mark.parametrize("seed", range(8))
def test_changes_are_those_of_both_moves(seed: int) -> None:
    """The predicted change of cost is the difference of two tables made anew, also with several factors on a pair."""
    problem = permutation_problem(seed)
    local, rng = LocalCosts(problem), np.random.default_rng(seed)
    assert local.sets is not None
    state = local.state(seed)
    state.weights[:] = rng.integers(1, 50, len(state.weights))
    for _ in range(5):
        local.put(state, local.random_assignment(rng))
        first, second = np.divmod(np.arange(problem.num_variables**2), problem.num_variables)
        usable = (local.sets.of[first] >= 0) & (local.sets.of[first] == local.sets.of[second]) & (first != second)
        first, second = first[usable], second[usable]
        changes = np.zeros(len(first), dtype=np.int64)
        exchange_changes(local.costs, state, local.sets, first, second, changes)
        before = _weighted(local, state.x, state.weights)
        for i, j, change in zip(first.tolist(), second.tolist(), changes.tolist(), strict=True):
            if change == NOTHING:
                continue
            after = state.x.copy()
            starts = local.costs.rows.start
            labels = local.sets.label[starts[[i, j]] + state.x[[i, j]]]
            after[i] = local.sets.value[local.sets.value_at[i] + labels[1]]
            after[j] = local.sets.value[local.sets.value_at[j] + labels[0]]
            assert change == _weighted(local, after, state.weights) - before


@pytest.mark.parametrize("seed", range(8))
def test_sweeps_keep_the_books(seed: int) -> None:
    """After sweeps at any temperature all that a state holds is what its assignment says, and sets stay different."""
    problem = permutation_problem(seed)
    local, rng = LocalCosts(problem), np.random.default_rng(seed)
    assert local.sets is not None
    state, noise = local.state(seed), local.noise(rng)
    local.put(state, local.arranged(local.random_assignment(rng)))
    lowest = np.zeros(60, dtype=np.int64)
    moved = sweep(local.costs, state, local.sets, noise, np.geomspace(300.0, 0.1, 60), lowest)
    assert moved > 0
    sound(local, state)
    exchanged = np.flatnonzero(local.sets.only)
    if len(exchanged):
        labels = local.sets.label[local.costs.rows.start[exchanged] + state.x[exchanged]]
        assert sorted(labels.tolist()) == list(range(len(exchanged)))


def test_nothing_moves_uphill_at_zero() -> None:
    """At temperature 0 the weighted cost never rises."""
    problem: Problem = permutation_problem(3)
    local, rng = LocalCosts(problem), np.random.default_rng(0)
    state, noise = local.state(1), local.noise(rng)
    local.put(state, local.arranged(local.random_assignment(rng)))
    assert local.sets is not None
    for _ in range(20):
        before = int(state.tally["weighted"])
        sweep(local.costs, state, local.sets, noise, np.zeros(1), np.zeros(1, dtype=np.int64))
        assert state.tally["weighted"] <= before
