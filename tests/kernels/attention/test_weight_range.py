"""The extremes of the weights, for the trace."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.held_weights import hold
from dabp.kernels.attention.weight_range import held_range, weight_range
from tests.kernels.attention import dense
from tests.kernels.attention.blocks import DEGREES, STARTS


def test_equals_the_extremes_of_the_dense_weights() -> None:
    """Over all targets and neighbours of all variables, averaged over heads; the target itself does not count."""
    degrees = [1, 3, 8]
    around, inputs = dense.variables(degrees, 4, 2, 1.0)
    every = []
    for i, degree in enumerate(degrees[1:], 1):
        edges = around.edges[around.offsets[i] : around.offsets[i + 1]]
        factors = around.factor[edges]
        *_, weights = dense.attention(inputs.query[factors], inputs.key[factors], inputs.f2v[edges])
        every.append(weights[~np.eye(degree, dtype=bool)])
    expected = np.concatenate(every)
    low, high = weight_range(around, inputs.query, inputs.key)
    assert (low, high) == (pytest.approx(expected.min()), pytest.approx(expected.max()))


def test_nothing_to_weigh() -> None:
    """Without a variable of two factors all weights are what they are by convention, 1."""
    around, inputs = dense.variables([1, 1], 4, 2, 1.0)
    assert weight_range(around, inputs.query, inputs.key) == (1.0, 1.0)


def test_held_weights_have_the_same_extremes() -> None:
    """What is in the room between blocks, and on their diagonals, does not count."""
    around, inputs = dense.variables(DEGREES, 4, 2, 1.0)
    weights = np.full(STARTS[-1], 99.0)
    hold(0, len(DEGREES), around, STARTS, inputs.query, inputs.key, weights)
    assert held_range(around, STARTS[:-1], weights) == pytest.approx(weight_range(around, inputs.query, inputs.key))
    around, _ = dense.variables([1, 1], 4, 2, 1.0)
    assert held_range(around, STARTS[:2], weights) == (1.0, 1.0)
