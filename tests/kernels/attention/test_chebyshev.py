"""Chebyshev interpolation of exp(σ(·)) is as good as its precision."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention import chebyshev
from dabp.kernels.attention.chebyshev import LARGEST, interpolation
from tests.kernels.alone import alone
from tests.kernels.attention.dense import sigmoid

nodes_for = alone(chebyshev.nodes_for)


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])
@pytest.mark.parametrize("nodes", [3, 6, 12, LARGEST])
def test_interpolates_to_the_precision_it_promises(nodes: int, dtype: type, tolerance: float) -> None:
    """On the largest half-range that so many nodes may have, for queries from −4 to 4."""
    table = interpolation(dtype)
    half = float(table.limits[nodes])
    assert nodes_for(half, table.limits) == nodes
    cosines = interpolation(np.float64).cosines[nodes, :nodes, :nodes]
    places = half * cosines[1]
    keys = np.linspace(-half, half, 101)
    basis = np.cos(np.arange(nodes)[:, None] * np.arccos(np.clip(keys / half, -1, 1)))  # T_n(t)
    lagrange = (basis[0] + 2 * cosines[1:].T @ basis[1:]) / nodes  # L_j(k), [nodes, keys]
    queries = np.linspace(-4, 4, 9)[:, None]
    exact = np.exp(sigmoid(queries + keys))
    np.testing.assert_allclose(np.exp(sigmoid(queries + places)) @ lagrange, exact, rtol=tolerance)


def test_too_long_a_range_has_no_number_of_nodes() -> None:
    """Beyond the longest range the answer is one more than the largest number."""
    limits = interpolation(np.float32).limits
    assert nodes_for(1e3, limits) == LARGEST + 1
    assert nodes_for(0.0, limits) == 2
