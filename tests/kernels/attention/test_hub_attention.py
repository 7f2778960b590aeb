"""A GAT layer seen from its hubs: softmax-weighted sums over neighbours and the node itself (Eq. 9)."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.hub_attention import HEADS, Given, Hubs, Shape, attend, attend_backward

CHANNELS = 8
SLOPE = np.float64(0.2)
SHAPE = Shape(SLOPE, np.float64(0.01), (0,) * CHANNELS)
BIAS = np.random.default_rng(9).normal(size=HEADS * CHANNELS)
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


def dense(nodes: np.ndarray, mean: bool = False) -> np.ndarray:
    """Rows of the outward nodes and the hubs, straight from Eq. 9; heads one after the other, or their mean."""
    projected, scores = np.split(nodes, [HEADS * CHANNELS], axis=1)
    projected = projected.reshape(NODES, HEADS, CHANNELS)
    rows = []
    for node in range(8):
        near = [node, *neighbours(node)]
        score = scores[node, HEADS:] + scores[near, :HEADS]
        power = np.exp(np.where(score < 0, SLOPE * score, score))
        heads = np.einsum("nh,nhc->hc", power / power.sum(0), projected[near])
        rows.append(heads.mean(0) if mean else heads.ravel())
    rows = np.array(rows) + BIAS[: len(rows[0])]
    return np.where(rows < 0, SHAPE.output_slope * rows, rows)


def made(rows: int, mean: bool = False) -> np.ndarray:
    results = np.full((rows, CHANNELS * (1 if mean else HEADS)), np.nan)
    attend(0, 3, HUBS, given(), SHAPE, BIAS, results)
    return results


@pytest.mark.parametrize("mean", [False, True])
def test_equals_the_dense_formula(mean: bool) -> None:
    """Hubs of any degree, none included, and the message nodes that attend to them."""
    np.testing.assert_allclose(made(8, mean), dense(given(), mean), rtol=1e-12)


@pytest.mark.parametrize("mean", [False, True])
def test_gradients_equal_differences(mean: bool) -> None:
    """Along random directions of projections and scores; that of the bias is the sum of the projections'."""
    nodes, rng = given(1), np.random.default_rng(2)
    results = dense(nodes, mean)
    weight = rng.normal(size=results.shape)
    gradients = np.full_like(nodes, np.nan)  # every row is written, as each is a hub or near one
    attend_backward(0, 3, HUBS, nodes, SHAPE, Given(weight, results), gradients, True)
    for part in (slice(HEADS * CHANNELS), slice(HEADS * CHANNELS, None)):
        direction = np.zeros_like(nodes)
        direction[:, part] = rng.normal(size=direction[:, part].shape)
        ends = [float((dense(nodes + step * direction, mean) * weight).sum()) for step in (1e-6, -1e-6)]
        slope = float((gradients * direction).sum())
        assert slope == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6)
    by_head = gradients[:, : HEADS * CHANNELS].sum(0)
    of_bias = (weight * np.where(results > 0, 1.0, SHAPE.output_slope)).sum(0)
    np.testing.assert_allclose(by_head.reshape(HEADS, -1).sum(0) if mean else by_head, of_bias, rtol=1e-12)


def test_nodes_that_are_not_needed_are_left_out() -> None:
    """A shorter output gets the first rows alone."""
    np.testing.assert_allclose(made(5), dense(given())[:5], rtol=1e-12)
