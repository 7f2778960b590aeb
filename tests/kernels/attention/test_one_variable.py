"""What belongs to one variable is gathered, and attention by all pairs is the dense formulas."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention import one_variable
from dabp.kernels.attention.dense import BLOCK
from dabp.kernels.attention.one_variable import Gathered, Results
from tests.kernels.alone import alone
from tests.kernels.attention import dense

all_pairs = alone(one_variable.all_pairs)
all_pairs_backward = alone(one_variable.all_pairs_backward)
gather = alone(one_variable.gather)
gathered = alone(one_variable.gathered)
scratch_for = alone(one_variable.scratch_for)
backward_scratch_for = alone(one_variable.backward_scratch_for)


def test_gathers_in_the_order_of_edges_and_pads_with_zeros() -> None:
    """Rows are the edges' own messages and their factors' queries and keys; blocks are filled up with zeros."""
    around, inputs = dense.variables([3, 4], 2, 5, 1.0)
    variable = gathered(6, inputs)
    edges = around.edges[3:]
    gather(edges, around.factor, inputs, variable)
    query, key = dense.query_and_key(inputs)
    np.testing.assert_array_equal(variable.queries[:, :4], query[around.factor[edges]].T)
    np.testing.assert_array_equal(variable.keys[:, :4], key[around.factor[edges]].T)
    np.testing.assert_array_equal(variable.messages[:4, :5], inputs.f2v[edges])
    assert variable.messages.shape == (6, BLOCK)
    assert not variable.messages[:4, 5:].any()


@pytest.mark.parametrize("degree", [2, 3, 7])
def test_equals_the_dense_formulas(degree: int) -> None:
    """At degrees where interpolation never pays, results are Eq. 10-13."""
    around, inputs = dense.variables([degree], 4, 5, 1.0)
    variable = gathered(BLOCK, inputs)
    gather(around.edges, around.factor, inputs, variable)
    results = Results(np.empty(degree), np.empty((degree, 8)))
    all_pairs(degree, variable, scratch_for(BLOCK, BLOCK, inputs.f2v), results)
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
    scratch = scratch_for(BLOCK, 8, inputs.f2v), backward_scratch_for(BLOCK, 8, inputs.f2v)
    all_pairs_backward(degree, variable, *scratch, given, Gathered(*made))
    np.testing.assert_allclose(made.queries[:, :degree], 0.0, atol=1e-13)
    np.testing.assert_allclose(made.keys[:, :degree], 0.0, atol=1e-13)
    np.testing.assert_allclose(made.messages.sum(), degree * (degree - 1) * 8, rtol=1e-12)
