"""Held weights are softmaxes over the others, weighted sums with them products of matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.attention.held_weights import hold, hold_backward, mix, mix_backward
from dabp.kernels.attention.one_variable import BLOCK
from tests.kernels.attention import dense

DEGREES = [1, 2, 4, 7, 19]
ROWS = [-(-degree // BLOCK) * BLOCK for degree in DEGREES]
"""Numbers of a row: whole vectors."""
STARTS = np.cumsum([0] + [degree * row for degree, row in zip(DEGREES, ROWS, strict=True)])


def block_of(flat: np.ndarray, i: int) -> np.ndarray:
    """The weights of a variable, without room."""
    return flat[STARTS[i] : STARTS[i + 1]].reshape(DEGREES[i], ROWS[i])[:, : DEGREES[i]]


@pytest.mark.parametrize("width", [1, 5, 8, 15])
def test_equals_matrix_products(width: int) -> None:
    """Any degree and domain size: W f2v forwards, Wᵀ g and g f2vᵀ backwards; one factor alone gives zeros."""
    around, inputs = dense.variables(DEGREES, 2, width, 1.0)
    rng, edges = np.random.default_rng(1), sum(DEGREES)
    weights, gradient = rng.normal(size=STARTS[-1]), rng.normal(size=(edges, width))
    weights[: ROWS[0]] = 0.0
    summed, to_f2v, to_weights = (np.full(shape, np.nan) for shape in ((edges, width), (edges, width), weights.shape))
    mix(0, len(DEGREES), around, STARTS, weights, inputs.f2v, summed)
    mix_backward(0, len(DEGREES), around, STARTS, weights, inputs.f2v, gradient, to_weights, to_f2v)
    for i in range(len(DEGREES)):
        here = around.edges[around.offsets[i] : around.offsets[i + 1]]
        matrix = block_of(weights, i)
        np.testing.assert_allclose(summed[here], matrix @ inputs.f2v[here], atol=1e-12)
        np.testing.assert_allclose(to_f2v[here], matrix.T @ gradient[here], atol=1e-12)
        np.testing.assert_allclose(block_of(to_weights, i), gradient[here] @ inputs.f2v[here].T, atol=1e-12)


@pytest.mark.parametrize("spread", [0.01, 3.0])
def test_weights_equal_autograd(spread: float) -> None:
    """Any degree: the mean over heads of softmax(σ(query + key)) without itself, times d − 1, and its gradients."""
    heads = 3
    around, inputs = dense.variables(DEGREES, heads, 4, spread)
    weights = np.zeros(STARTS[-1])
    hold(0, len(DEGREES), around, STARTS, inputs.query, inputs.key, weights)
    gradient = np.random.default_rng(2).normal(size=weights.shape)
    made = [np.zeros((len(around.edges), heads)) for _ in range(2)]
    hold_backward(0, len(DEGREES), around, STARTS, inputs.query, inputs.key, gradient, *made)
    for i, degree in enumerate(DEGREES):
        here = around.edges[around.offsets[i] : around.offsets[i + 1]]
        query, key = (torch.tensor(one[around.factor[here]], requires_grad=True) for one in (inputs.query, inputs.key))
        score = torch.sigmoid(query[:, None] + key[None])
        itself = torch.eye(degree, dtype=torch.bool)[:, :, None]
        expected = (degree - 1) * torch.softmax(score.masked_fill(itself, -torch.inf), 1).mean(-1)
        if degree == 1:
            assert block_of(weights, i) == 0
            assert not any(one[here].any() for one in made)
            continue
        np.testing.assert_allclose(block_of(weights, i), expected.detach(), atol=1e-12)
        (expected * torch.tensor(block_of(gradient, i))).sum().backward()
        np.testing.assert_allclose(made[0][here], query.grad, atol=1e-12)
        np.testing.assert_allclose(made[1][here], key.grad, atol=1e-12)
