"""Held weights are softmaxes over the others, weighted sums with them products of matrices."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.attention.held_weights import hold, hold_backward, mix, mix_backward
from tests.kernels.attention import dense

DEGREES = [1, 2, 4, 7, 19]
STARTS = np.array([0, *(1 + np.cumsum([0] + [d * d for d in DEGREES[1:-1]]))])


@pytest.mark.parametrize("width", [1, 5, 8, 15])
def test_equals_matrix_products(width: int) -> None:
    """Any degree and domain size: W f2v forwards, Wᵀ g and g f2vᵀ backwards; one factor alone gives zeros."""
    around, inputs = dense.variables(DEGREES, 2, width, 1.0)
    rng, edges = np.random.default_rng(1), sum(DEGREES)
    weights, gradient = rng.normal(size=1 + sum(d * d for d in DEGREES[1:])), rng.normal(size=(edges, width))
    weights[0] = 0.0
    summed, to_f2v, to_weights = (np.full(shape, np.nan) for shape in ((edges, width), (edges, width), weights.shape))
    mix(0, len(DEGREES), around, STARTS, weights, inputs.f2v, summed)
    mix_backward(0, len(DEGREES), around, STARTS, weights, inputs.f2v, gradient, to_weights, to_f2v)
    for i, degree in enumerate(DEGREES):
        here = around.edges[around.offsets[i] : around.offsets[i + 1]]
        block = slice(STARTS[i], STARTS[i] + degree**2)
        matrix = weights[block].reshape(degree, degree)
        np.testing.assert_allclose(summed[here], matrix @ inputs.f2v[here], atol=1e-12)
        np.testing.assert_allclose(to_f2v[here], matrix.T @ gradient[here], atol=1e-12)
        expected = (gradient[here] @ inputs.f2v[here].T).ravel()
        np.testing.assert_allclose(to_weights[block], expected, atol=1e-12)


@pytest.mark.parametrize("spread", [0.01, 3.0])
def test_weights_equal_autograd(spread: float) -> None:
    """Any degree: the mean over heads of softmax(σ(query + key)) without itself, times d − 1, and its gradients."""
    heads = 3
    around, inputs = dense.variables(DEGREES, heads, 4, spread)
    weights = np.zeros(1 + sum(d * d for d in DEGREES[1:]))
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
        block = slice(STARTS[i], STARTS[i] + degree**2)
        if degree == 1:
            assert weights[block] == 0
            assert not any(one[here].any() for one in made)
            continue
        np.testing.assert_allclose(weights[block], expected.detach().ravel(), atol=1e-12)
        (expected.ravel() * torch.from_numpy(gradient[block])).sum().backward()
        np.testing.assert_allclose(made[0][here], query.grad, atol=1e-12)
        np.testing.assert_allclose(made[1][here], key.grad, atol=1e-12)
