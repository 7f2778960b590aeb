"""Interpolation is as good as its precision, and is chosen where it pays."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention import interpolated_attention
from dabp.kernels.attention.interpolated_attention import interpolation
from dabp.kernels.attention.one_variable import MOST_NODES
from tests.kernels.alone import alone

nodes_for = alone(interpolated_attention.nodes_for)
pays = alone(interpolated_attention.pays)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1.0 / (1.0 + np.exp(-x))


@pytest.mark.parametrize(("dtype", "tolerance"), [(np.float32, 1e-6), (np.float64, 1e-14)])
@pytest.mark.parametrize("nodes", [3, 6, 12, MOST_NODES])
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


def test_pays_for_many_close_keys_only() -> None:
    """Few neighbours, or keys far apart in one head, are handled pair by pair."""
    limits, rng = interpolation(np.float64).limits, np.random.default_rng(0)
    close, apart = 0.01 * rng.normal(size=(4, 60)), 5.0 * rng.normal(size=(4, 60))
    assert pays(close, 60, limits)
    assert not pays(close, 5, limits)
    assert not pays(apart, 60, limits)
    assert not pays(np.concatenate([close[:3], apart[:1]]), 60, limits)
