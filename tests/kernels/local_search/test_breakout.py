"""Rounds of GDBA."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.solvers.base import Budget
from dabp.solvers.local_search.gdba import Gdba
from tests.kernels.local_search.distributed_reference import GdbaAgents, SplitMix, random_instance


@pytest.mark.parametrize("scope", ["E", "R", "C", "T"])
@pytest.mark.parametrize("violation", ["NZ", "NM", "MX"])
@pytest.mark.parametrize("modifier", ["A", "M"])
def test_rounds_are_what_the_definition_says(modifier: str, violation: str, scope: str) -> None:
    """All 24 variants: every round's assignment equals that of agents with modifiers for each combination."""
    raised = 0
    for seed in range(2):  # with negative costs, and with forbidden combinations
        problem = random_instance(seed)
        start = np.random.default_rng(seed).integers(0, problem.domain_sizes)
        solver = Gdba(modifier=modifier, violation=violation, increase_mode=scope)
        search = solver.start(problem, seed=seed, budget=Budget(), initial=start)
        weight = search.local.units.dominant_weight()
        agents = GdbaAgents(problem).begin(modifier, violation, scope, weight)
        random, lowest = SplitMix(int(search.state.random[0])), np.zeros(1, dtype=np.int64)
        for _ in range(25):
            expected = agents.round(search.state.x.tolist(), random)
            search.run(lowest)
            assert search.state.x.tolist() == expected
            assert int(search.state.random[0]) == random.state
        raised += len(agents.modifiers)
    assert raised > 0
