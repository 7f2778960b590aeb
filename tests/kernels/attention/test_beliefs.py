"""Beliefs are unary costs and the sums of messages."""

from __future__ import annotations

import numpy as np

from dabp.kernels.attention.beliefs import beliefs, beliefs_backward
from tests.kernels.attention import dense

DEGREES = [0, 1, 3, 9, 0]


def test_sums_by_variable_and_back() -> None:
    """Variables without factors keep their unary costs, infinite ones too; a share writes nothing of the others."""
    around, inputs = dense.variables(DEGREES, 1, 5, 1.0)
    rng = np.random.default_rng(0)
    unary = rng.normal(size=(len(DEGREES), 5))
    unary[:, 4] = np.inf
    owner = np.empty(sum(DEGREES), dtype=np.int64)
    owner[around.edges] = np.repeat(np.arange(len(DEGREES)), DEGREES)
    expected = unary.copy()
    np.add.at(expected, owner, inputs.f2v)
    made = np.full_like(unary, np.nan)
    beliefs(0, 3, around, unary, inputs.f2v, made)
    assert np.isnan(made[3:]).all()
    beliefs(3, 5, around, unary, inputs.f2v, made)
    np.testing.assert_allclose(made, expected)
    gradient, passed = rng.normal(size=unary.shape), np.full_like(inputs.f2v, np.nan)
    beliefs_backward(0, 5, around, gradient, passed)
    np.testing.assert_array_equal(passed, gradient[owner])
