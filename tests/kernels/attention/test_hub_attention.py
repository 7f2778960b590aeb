"""A GAT layer seen from its hubs: softmax-weighted sums over neighbours and the node itself (Eq. 9)."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.hub_attention import HEADS, Hubs, Shape, attend, attend_backward

CHANNELS = 8
SLOPE = np.float64(0.2)
OFFSETS, EDGES = np.array([0, 3, 3, 5]), np.array([4, 0, 2, 1, 3])
HUBS = Hubs(5, OFFSETS, EDGES, 8, 0)
"""Nodes 0..4 are outward (edge e is node e), 5..7 the hubs, of which the second has no edge, 8..12 inward."""
NODES = 13


def given(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=(NODES, HEADS * (CHANNELS + 2)))


def neighbours(node: int) -> list[int]:
    if node < 5:
        return [5 + int(np.flatnonzero([node in EDGES[OFFSETS[i] : OFFSETS[i + 1]] for i in range(3)])[0])]
    return (8 + EDGES[OFFSETS[node - 5] : OFFSETS[node - 4]]).tolist()


def dense(nodes: np.ndarray) -> np.ndarray:
    """Rows of the outward nodes and the hubs, straight from Eq. 9."""
    projected, scores = np.split(nodes, [HEADS * CHANNELS], axis=1)
    projected = projected.reshape(NODES, HEADS, CHANNELS)
    rows = []
    for node in range(8):
        near = [node, *neighbours(node)]
        score = scores[node, HEADS:] + scores[near, :HEADS]
        power = np.exp(np.where(score < 0, SLOPE * score, score))
        rows.append(np.einsum("nh,nhc->hc", power / power.sum(0), projected[near]).ravel())
    return np.array(rows)


def test_equals_the_dense_formula() -> None:
    """Hubs of any degree, none included, and the message nodes that attend to them."""
    mixed = np.full((8, HEADS * CHANNELS), np.nan)
    attend(0, 3, HUBS, given(), Shape(SLOPE, (0,) * CHANNELS), mixed)
    np.testing.assert_allclose(mixed, dense(given()), rtol=1e-12)


def test_gradients_equal_differences() -> None:
    """Along random directions of projections and scores."""
    nodes, rng = given(1), np.random.default_rng(2)
    weight = rng.normal(size=(8, HEADS * CHANNELS))
    made = np.zeros_like(nodes)
    attend_backward(0, 3, HUBS, nodes, Shape(SLOPE, (0,) * CHANNELS), weight, made)
    for part in (slice(HEADS * CHANNELS), slice(HEADS * CHANNELS, None)):
        direction = np.zeros_like(nodes)
        direction[:, part] = rng.normal(size=direction[:, part].shape)
        ends = [float((dense(nodes + step * direction) * weight).sum()) for step in (1e-6, -1e-6)]
        slope = float((made * direction).sum())
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)


def test_nodes_that_are_not_needed_are_left_out() -> None:
    """A shorter output gets the first rows alone."""
    mixed = np.full((5, HEADS * CHANNELS), np.nan)
    attend(0, 3, HUBS, given(), Shape(SLOPE, (0,) * CHANNELS), mixed)
    np.testing.assert_allclose(mixed, dense(given())[:5], rtol=1e-12)
