"""Attention over the factors of a variable: the dense formulas, however the kernel gets there."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.attentive_messages import attend, attend_backward, weight_range
from dabp.kernels.attention.interpolated_attention import interpolation
from dabp.kernels.attention.one_variable import Inputs, Results
from tests.kernels.attention import dense

DEGREES = [1, 2, 5, 17, 40]


@pytest.mark.parametrize("width", [1, 3, 8, 9])
@pytest.mark.parametrize("spread", [0.0, 0.02, 0.5, 5.0])
def test_equals_the_dense_formulas(spread: float, width: int) -> None:
    """Short ranges of keys are interpolated, long ones not; both are Eq. 10-13, and one factor alone gives zeros."""
    around, inputs = dense.variables(DEGREES, 4, width, spread)
    results = Results(np.full(len(inputs.f2v), np.nan), np.full(inputs.f2v.shape, np.nan))
    attend(0, len(DEGREES), around, interpolation(np.float64), inputs, results)
    for i in range(len(DEGREES)):
        edges = around.edges[around.offsets[i] : around.offsets[i + 1]]
        factors = around.factor[edges]
        if len(edges) == 1:
            assert not results.damping[edges].any()
            assert not results.summed[edges].any()
            continue
        query, key = dense.query_and_key(inputs)
        damping, summed, _ = dense.attention(query[factors], key[factors], inputs.f2v[edges])
        np.testing.assert_allclose(results.damping[edges], damping, rtol=1e-12)
        np.testing.assert_allclose(results.summed[edges], summed, rtol=1e-11, atol=1e-11)


def test_a_range_of_variables_leaves_the_others_alone() -> None:
    """A thread's share writes the edges of its own variables only, forwards and backwards."""
    around, inputs = dense.variables(DEGREES, 4, 3, 0.5)
    results = Results(np.full(len(inputs.f2v), np.nan), np.full(inputs.f2v.shape, np.nan))
    gradients = Results(np.ones(len(inputs.f2v)), np.ones(inputs.f2v.shape))
    made = Inputs(4, np.full_like(inputs.terms, np.nan), np.full_like(inputs.f2v, np.nan))
    attend(1, 3, around, interpolation(np.float64), inputs, results)
    attend_backward(1, 3, around, interpolation(np.float64), inputs, gradients, made)
    written = np.zeros(len(inputs.f2v), dtype=bool)
    written[around.edges[around.offsets[1] : around.offsets[3]]] = True
    for array in (*results, made.terms, made.f2v):
        finite = np.isfinite(array).reshape(len(written), -1)
        assert (finite.all(1) == written).all()
        assert (finite.any(1) == written).all()


def test_range_of_weights_equals_the_extremes_of_the_dense_ones() -> None:
    """Over all targets and neighbours of all variables, averaged over heads; the target itself does not count."""
    degrees = [1, 3, 8]
    around, inputs = dense.variables(degrees, 4, 2, 1.0)
    query, key = dense.query_and_key(inputs)
    every = []
    for i, degree in enumerate(degrees[1:], 1):
        edges = around.edges[around.offsets[i] : around.offsets[i + 1]]
        factors = around.factor[edges]
        *_, weights = dense.attention(query[factors], key[factors], inputs.f2v[edges])
        every.append(weights[~np.eye(degree, dtype=bool)])
    expected = np.concatenate(every)
    low, high = weight_range(around, 4, inputs.terms)
    assert (low, high) == (pytest.approx(expected.min()), pytest.approx(expected.max()))
    around, inputs = dense.variables([1, 1], 4, 2, 1.0)
    assert weight_range(around, 4, inputs.terms) == (1.0, 1.0), "there is nothing to weigh"
