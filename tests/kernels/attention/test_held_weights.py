"""Held weights are softmaxes over the others; new messages with them are products of matrices that are damped."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from dabp.kernels.attention.composition import Edges
from dabp.kernels.attention.held_weights import (
    Gradients,
    HeldBlocks,
    Step,
    hold,
    hold_backward,
    pass_on,
    pass_on_backward,
)
from tests.kernels.attention import dense
from tests.kernels.attention.blocks import DEGREES, STARTS, block_of


@pytest.mark.parametrize("spread", [0.01, 3.0])
def test_weights_equal_autograd(spread: float) -> None:
    """Any degree: the mean over heads of softmax(σ(query + key)) without itself, times d − 1, and its gradients."""
    heads = 3
    around, inputs = dense.variables(DEGREES, heads, 4, spread)
    weights = np.zeros(STARTS[-1])
    hold(0, len(DEGREES), around, STARTS, heads, inputs.terms, weights)
    gradient = np.random.default_rng(2).normal(size=weights.shape)
    made = np.full_like(inputs.terms, np.nan)
    hold_backward(0, len(DEGREES), around, STARTS, heads, inputs.terms, gradient, made)
    assert not made[:, 2 * heads :].any()
    for i, degree in enumerate(DEGREES):
        here = around.edges[around.offsets[i] : around.offsets[i + 1]]
        query, key = (torch.tensor(one[around.factor[here]], requires_grad=True) for one in dense.query_and_key(inputs))
        score = torch.sigmoid(query[:, None] + key[None])
        itself = torch.eye(degree, dtype=torch.bool)[:, :, None]
        expected = (degree - 1) * torch.softmax(score.masked_fill(itself, -torch.inf), 1).mean(-1)
        if degree == 1:
            assert block_of(weights, i) == 0
            assert not made[here].any()
            continue
        np.testing.assert_allclose(block_of(weights, i), expected.detach(), atol=1e-12)
        (expected * torch.tensor(block_of(gradient, i))).sum().backward()
        np.testing.assert_allclose(made[here, :heads], query.grad, atol=1e-12)
        np.testing.assert_allclose(made[here, heads : 2 * heads], key.grad, atol=1e-12)


def expected(
    weights: list[torch.Tensor], damping: torch.Tensor, v2f: torch.Tensor, f2v: torch.Tensor, edges: Edges, around: list
) -> torch.Tensor:
    """λ v2f + (1 − λ)(unary + W f2v) at the values of each domain, shifted to minimum 0; unary costs if alone."""
    new, unary = torch.zeros_like(v2f), torch.tensor(edges.unary)
    for matrix, here in zip(weights, around, strict=True):
        others = matrix @ f2v[here]
        for row, e in enumerate(here):
            size = edges.sizes[e]
            raw = unary[e] if len(here) == 1 else damping[e] * v2f[e] + (1 - damping[e]) * (unary[e] + others[row])
            new[e, :size] = raw[:size] - raw[:size].min()
    return new


@pytest.mark.parametrize("width", [1, 5, 8, 15, 18])
@pytest.mark.parametrize("mixed", [False, True])
def test_equals_autograd(width: int, mixed: bool) -> None:
    """Any degree, domains of equal and of different sizes: new messages, every gradient, and weights' added up."""
    around, inputs = dense.variables(DEGREES, 2, width, 1.0)
    rng, count, variables = np.random.default_rng(width), sum(DEGREES), len(DEGREES)
    rows = [around.edges[around.offsets[i] : around.offsets[i + 1]] for i in range(variables)]
    sizes = np.full(count, width)
    for here in rows if mixed else []:
        sizes[here] = rng.integers(1, width + 1)
    inside = np.arange(width) < sizes[:, None]
    alone, unary = np.isin(np.arange(count), rows[0]), rng.normal(size=(count, width)) * inside
    edges = Edges(sizes, alone, unary)
    held = HeldBlocks(STARTS, rng.normal(size=STARTS[-1]))
    v2f, f2v = rng.normal(size=(count, width)) * inside, inputs.f2v * inside
    step = Step(rng.uniform(0.3, 0.7, count), v2f, f2v, np.full((count, width), np.nan), np.zeros(count))
    pass_on(0, variables, around, held, edges, step)

    given = [torch.tensor(one, requires_grad=True) for one in step[:3]]
    weights = [torch.tensor(block_of(held.weights, i), requires_grad=True) for i in range(variables)]
    wanted = expected(weights, *given, edges, rows)
    np.testing.assert_allclose(step.new, wanted.detach(), atol=1e-12)
    gradient = rng.normal(size=wanted.shape) * inside
    wanted.backward(torch.tensor(gradient))
    made = Gradients(*(np.full_like(one, np.nan) for one in (*step[:3], held.weights)))
    pass_on_backward(0, variables, around, held, edges, step, gradient, made, True)
    pass_on_backward(0, variables, around, held, edges, step, gradient, made, False)
    for mine, theirs in zip(made[:3], given, strict=True):
        np.testing.assert_allclose(mine, theirs.grad, atol=1e-11)
    for i in range(1, variables):
        np.testing.assert_allclose(block_of(made.weights, i), 2 * weights[i].grad, atol=1e-11)
