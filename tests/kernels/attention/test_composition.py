"""Beliefs (Eq. 15), and new messages from damping and weighted sums (Eq. 6)."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.composition import Edges, Parts, beliefs, compose, compose_backward
from tests.kernels.attention import dense

RNG = np.random.default_rng(0)
SIZES = np.array([3, 2, 4, 1, 8, 9, 15, 16, 17, 17])
"""Below, at and beyond one and two vectors."""
SHAPE = len(SIZES), 17
EDGES = Edges(SIZES, np.isin(np.arange(len(SIZES)), [2, 9]), RNG.normal(size=SHAPE))
GIVEN = Parts(RNG.random(len(SIZES)), RNG.normal(size=SHAPE), RNG.normal(size=SHAPE))


def composed(parts: Parts) -> np.ndarray:
    new = np.full(SHAPE, np.nan)
    compose(0, len(SIZES), EDGES, parts, new)
    return new


def test_equals_equation_6() -> None:
    """λ old + (1 − λ)(unary + others), minimum 0 over the domain, 0 beyond; one factor alone sends its unary costs."""
    new = composed(GIVEN)
    for e, (size, alone) in enumerate(zip(EDGES.sizes, EDGES.alone, strict=True)):
        share = 0.0 if alone else GIVEN.damping[e]
        others = 0.0 if alone else GIVEN.others[e]
        mixed = (share * GIVEN.v2f[e] + (1 - share) * (EDGES.unary[e] + others))[:size]
        np.testing.assert_allclose(new[e, :size], mixed - mixed.min(), atol=1e-14)
        assert not new[e, size:].any()


def test_gradients_equal_differences() -> None:
    """Each entry of each input, by central differences."""
    weight = RNG.normal(size=SHAPE)
    made = Parts(*(np.full_like(one, np.nan) for one in GIVEN))
    compose_backward(0, len(SIZES), EDGES, GIVEN, composed(GIVEN), weight, made)
    for number, one in enumerate(GIVEN):
        for place in np.ndindex(one.shape):
            slopes = []
            for step in (1e-6, -1e-6):
                moved = [each.copy() for each in GIVEN]
                moved[number][place] += step
                slopes.append(float((composed(Parts(*moved)) * weight).sum()))
            np.testing.assert_allclose(made[number][place], (slopes[0] - slopes[1]) / 2e-6, atol=1e-8)


@pytest.mark.parametrize("more", [0, 5, 6, 13])
def test_a_tied_minimum_shares_its_gradient(more: int) -> None:
    """Two values that are both least get half of what the shift takes, as in PyTorch's amin; at any domain size."""
    far = np.full(more, 9.0)
    edges = Edges(np.array([3 + more]), np.array([False]), np.zeros((1, 3 + more)))
    old, others = (np.concatenate([far, one])[None] for one in ([1.0, 1.0, 4.0], [2.0, 2.0, 8.0]))
    parts = Parts(np.array([0.5]), old, others)
    new, made = np.empty(old.shape), Parts(np.empty(1), np.empty(old.shape), np.empty(old.shape))
    compose(0, 1, edges, parts, new)
    gradient = np.zeros(old.shape)
    gradient[0, -1] = 1.0
    compose_backward(0, 1, edges, parts, new, gradient, made)
    assert made.v2f.tolist() == [[0.0] * more + [-0.25, -0.25, 0.5]]
    assert made.damping.tolist() == [-3.0]


def test_beliefs_are_sums_by_variable() -> None:
    """Variables without factors keep their unary costs, infinite ones too; a share writes nothing of the others."""
    degrees = [0, 1, 3, 9, 0]
    around, inputs = dense.variables(degrees, 1, 5, 1.0)
    rng = np.random.default_rng(0)
    unary = rng.normal(size=(len(degrees), 5))
    unary[:, 4] = np.inf
    owner = np.empty(sum(degrees), dtype=np.int64)
    owner[around.edges] = np.repeat(np.arange(len(degrees)), degrees)
    expected = unary.copy()
    np.add.at(expected, owner, inputs.f2v)
    made = np.full_like(unary, np.nan)
    beliefs(0, 3, around, unary, inputs.f2v, made)
    assert np.isnan(made[3:]).all()
    beliefs(3, 5, around, unary, inputs.f2v, made)
    np.testing.assert_allclose(made, expected)
