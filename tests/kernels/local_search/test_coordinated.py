"""Rounds of MGM-2."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.kernels.local_search.coordinated import COUNTS, Plans, best_pair, can_gain, mgm2
from dabp.kernels.local_search.moves import move_now
from dabp.problem import Problem
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.kernels.local_search.distributed_reference import Agents, SplitMix, changed, mgm2_round, random_instance

TIE = {"unilateral": 0.0, "coordinated": 1.0, "no": 0.5}


def _plans(problem: Problem) -> Plans:
    n = problem.num_variables
    return Plans(*(np.zeros(n, dtype=np.int64) for _ in range(4)), np.zeros(999, np.int64), np.zeros((), COUNTS))


@pytest.mark.parametrize("seed", range(20))
def test_pairs_gain_what_the_costs_say(seed: int) -> None:
    """The best change of two variables is that of exhaustive search over both, with wide and parallel factors."""
    problem = random_instance(seed)
    agents, local = Agents(problem), LocalCosts(problem, lexicographic=True, movers=2)
    state, shared = local.state(0), np.zeros(999, dtype=np.int64)
    local.put(state, np.random.default_rng(seed).integers(0, problem.domain_sizes))
    x = state.x.tolist()
    for i, j in itertools.permutations(range(6), 2):
        if j not in agents.neighbours[i]:
            continue
        gains = {
            (a, b): agents.cost(x) - agents.cost(changed(x, (i, a), (j, b)))
            for a, b in itertools.product(range(agents.sizes[i]), range(agents.sizes[j]))
            if a != x[i] and b != x[j]
        }
        best = max([0.0, *gains.values()])
        a, b, gain = best_pair(local.costs, state, i, j, shared)
        assert (gain > 0) == (best > 0)
        if best > 0:
            assert gains[a, b] == best


@pytest.mark.parametrize("favor", TIE)
@pytest.mark.parametrize("seed", range(15))
def test_rounds_are_what_the_definition_says(seed: int, favor: str) -> None:
    """Every round's assignment equals that of agents who compute with whole tables, until no two gain anything."""
    problem = random_instance(seed)
    agents, local, plans = Agents(problem), LocalCosts(problem, lexicographic=True, movers=2), _plans(problem)
    state, random, lowest, sent = local.state(seed), SplitMix(seed), np.zeros(1, dtype=np.int64), list[int]()
    local.put(state, np.random.default_rng(seed).integers(0, problem.domain_sizes))
    for _ in range(40):
        expected = mgm2_round(agents, state.x.tolist(), random, 0.5, favor, sent)
        before = agents.cost(state.x.tolist())
        mgm2(local.costs, state, plans, lowest, 0.5, TIE[favor])
        assert state.x.tolist() == expected
        assert int(state.random[0]) == random.state
        assert agents.cost(expected) <= before
    told = 40 * 3 * sum(map(len, agents.neighbours))
    offers, accepted, combinations = plans.counts.item()
    assert offers > 20
    assert len(sent) == told + offers + 2 * accepted
    assert sum(sent) == told // 3 * 2 + 3 * combinations + 3 * offers + 2 * accepted


def test_two_that_only_gain_together() -> None:
    """Where MGM is stuck, a pair moves; then nobody gains anything."""
    problem = Problem.from_tables([2, 2], [((0, 1), [[1, 9], [9, 0]])])
    local, plans = LocalCosts(problem, lexicographic=True, movers=2), _plans(problem)
    state, lowest = local.state(1), np.zeros(1, dtype=np.int64)
    local.put(state, np.array([0, 0]))
    assert can_gain(local.costs, state, plans.shared)
    for _ in range(60):
        mgm2(local.costs, state, plans, lowest, 0.5, 0.0)
    assert state.x.tolist() == [1, 1]
    assert not can_gain(local.costs, state, plans.shared)
    move_now(local.costs, state, 0, 0)
    assert can_gain(local.costs, state, plans.shared)
