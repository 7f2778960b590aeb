# mypy: disable-error-code="untyped-decorator"
"""Weights that stay for several iterations, as blocks of the variables, and their gradients.

Variable i with d edges has its weights w × (d − 1) as a block of d rows, one of each target, from ``starts[i]`` of a
flat array: the neighbours', zero on the diagonal, and room up to whole vectors. Variables are independent, so a range
of them is a thread's share.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.one_variable import VariableEdges, gather_factors, whole_blocks
from dabp.kernels.decorators import kernel
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential
from dabp.kernels.rows import longest_row
from dabp.kernels.scratch import apart, rows_apart

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]


@kernel(fastmath=FAST)
def hold(
    first: int, last: int, around: VariableEdges, starts: Integers, query: Floats, key: Floats, weights: Floats
) -> None:
    """Write the blocks of variables first..last − 1: w, a softmax of σ(query + key) over the others, mean of heads."""
    offsets, heads, kind = around.offsets, key.shape[1], key.dtype.type
    largest = longest_row(offsets, first, last)
    keys, powers = rows_apart(heads, largest, key), apart(largest, key)
    for i in range(first, last):
        edges = around.edges[offsets[i] : offsets[i + 1]]
        degree = len(edges)
        gather_factors(edges, around.factor, key, keys)
        for target in range(degree if degree > 1 else 0):
            begin = starts[i] + target * whole_blocks(degree)
            block = weights[begin : begin + degree]
            block[:] = kind(0.0)
            for k in range(heads):
                ours, row, total = query[around.factor[edges[target]], k], keys[k], kind(0.0)
                for m in range(degree):
                    powers[m] = unit_exponential(sigmoid(ours + row[m]))
                    total += powers[m]
                scale = kind((degree - 1) / heads) / (total - powers[target])
                for m in range(degree):
                    block[m] += scale * powers[m]
            block[target] = kind(0.0)


@kernel(fastmath=FAST)
def hold_backward(
    first: int,
    last: int,
    around: VariableEdges,
    starts: Integers,
    query: Floats,
    key: Floats,
    gradient: Floats,
    grad_query: Floats,
    grad_key: Floats,
) -> None:
    """Write the gradients of `hold` edge by edge, [E, K] each, given that of the weights."""
    offsets, heads, kind = around.offsets, key.shape[1], key.dtype.type
    largest, one = longest_row(offsets, first, last), kind(1.0)
    keys, of_keys = rows_apart(heads, largest, key), rows_apart(heads, largest, key)
    scores, powers = apart(largest, key), apart(largest, key)
    for i in range(first, last):
        edges = around.edges[offsets[i] : offsets[i + 1]]
        degree = len(edges)
        gather_factors(edges, around.factor, key, keys)
        of_keys[:, :degree] = kind(0.0)
        for target in range(degree if degree > 1 else 0):
            begin = starts[i] + target * whole_blocks(degree)
            given = gradient[begin : begin + degree]
            for k in range(heads):
                ours, row = query[around.factor[edges[target]], k], keys[k]
                total = mean = of_query = kind(0.0)
                for m in range(degree):
                    scores[m] = sigmoid(ours + row[m])
                    powers[m] = unit_exponential(scores[m])
                    total += powers[m]
                    mean += powers[m] * given[m]
                inverse, own = one / (total - powers[target]), scores[target] * (one - scores[target])
                mean = (mean - powers[target] * given[target]) * inverse
                scale = kind((degree - 1) / heads) * inverse
                powers[target] = kind(0.0)
                for m in range(degree):
                    change, slope = scale * powers[m] * (given[m] - mean), scores[m] * (one - scores[m])
                    of_keys[k, m] += change * slope
                    of_query += change * (slope - own)  # changes add up to 0: the sum does not cancel then
                grad_query[edges[target], k] = of_query
        for m in range(degree):
            for k in range(heads):
                grad_key[edges[m], k] = of_keys[k, m]
