"""Heat-bath updates."""

from __future__ import annotations

import numpy as np

from dabp.kernels.local_search.heat_bath import NOISE, resample
from dabp.problem import Problem
from dabp.solvers.local_costs.local_costs import LocalCosts
from tests.kernels.alone import alone

value = alone(resample)


def test_resampling_is_boltzmann() -> None:
    """Values are drawn from P(a) ∝ exp(−L[a] / T)."""
    costs = np.array([0.0, 3.0, 1.0, 7.0, 2.0, 2.0, 9.0, 4.0, 5.0, 1.0])
    local = LocalCosts(Problem([10], [0], [0, 1], costs, [0, 10]))
    state = local.state(11)
    local.put(state, np.array([3]))
    noise = np.random.default_rng(0).gumbel(size=NOISE + 16).astype(np.float32)
    bits = np.random.default_rng(1).integers(2**64, size=20_000, dtype=np.uint64)
    drawn = [value(local.costs, state, 0, each, noise, np.float32(2.0)) for each in bits]
    expected = np.exp(-costs / 2.0)
    np.testing.assert_allclose(np.bincount(drawn, minlength=10) / 20_000, expected / expected.sum(), atol=0.015)
