"""Held weights are softmaxes over the others."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.attention.held_weights import hold, hold_backward
from tests.kernels.attention import dense
from tests.kernels.attention.blocks import DEGREES, STARTS, block_of


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
