"""Gathering what belongs to one variable."""

from __future__ import annotations

import numpy as np

from dabp.kernels.attention import one_variable
from dabp.kernels.attention.dense import BLOCK
from tests.kernels.alone import alone
from tests.kernels.attention import dense

gather = alone(one_variable.gather)
gathered = alone(one_variable.gathered)


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
