"""Attention by all pairs and by interpolation are one function."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention import all_pairs as module
from dabp.kernels.attention import one_variable
from dabp.kernels.attention.one_variable import Gathered, Results
from dabp.kernels.attention.vectors import BLOCK
from tests.kernels.alone import alone
from tests.kernels.attention import dense

all_pairs = alone(module.all_pairs)
all_pairs_backward = alone(module.all_pairs_backward)
gather = alone(one_variable.gather)
gathered = alone(one_variable.gathered)


@pytest.mark.parametrize("degree", [2, 3, 7])
def test_equals_the_dense_formulas(degree: int) -> None:
    """At degrees where interpolation never pays, results are Eq. 10-13."""
    around, inputs = dense.variables([degree], 4, 5, 1.0)
    variable = gathered(BLOCK, inputs)
    gather(around.edges, around.factor, inputs, variable)
    results = Results(np.empty(degree), np.empty((degree, 8)))
    all_pairs(degree, variable, np.empty((4, BLOCK)), results)
    factors = around.factor[around.edges]
    query, key = dense.query_and_key(inputs)
    damping, summed, _ = dense.attention(query[factors], key[factors], inputs.f2v[around.edges])
    np.testing.assert_allclose(results.damping, damping, rtol=1e-12)
    np.testing.assert_allclose(results.summed[:, :5], summed, rtol=1e-12, atol=1e-12)
    assert not results.summed[:, 5:].any()


def test_gradients_of_equal_messages_vanish() -> None:
    """Weights add up to one: if all messages are equal, sums do not depend on query and key."""
    degree = 6
    around, inputs = dense.variables([degree], 4, 8, 1.0)
    inputs = inputs._replace(f2v=np.ones_like(inputs.f2v))
    variable, made = gathered(BLOCK, inputs), gathered(BLOCK, inputs)
    gather(around.edges, around.factor, inputs, variable)
    made.messages[:] = 0.0
    given = Results(np.zeros(degree), np.ones((degree, 8)))
    rows, columns = np.empty((5, BLOCK)), np.empty((8, BLOCK))
    all_pairs_backward(degree, variable, rows, columns, given, Gathered(*made))
    np.testing.assert_allclose(made.queries[:, :degree], 0.0, atol=1e-13)
    np.testing.assert_allclose(made.keys[:, :degree], 0.0, atol=1e-13)
    np.testing.assert_allclose(made.messages.sum(), degree * (degree - 1) * 8, rtol=1e-12)
