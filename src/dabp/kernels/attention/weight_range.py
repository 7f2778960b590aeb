# mypy: disable-error-code="untyped-decorator"
"""The extremes of the attention weights, for people who want to see them move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.one_variable import VariableEdges, whole_blocks
from dabp.kernels.decorators import kernel
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential
from dabp.kernels.rows import longest_row
from dabp.kernels.scratch import apart, rows_apart

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]


@kernel(fastmath=FAST)
def weight_range(around: VariableEdges, query: Floats, key: Floats) -> tuple[float, float]:
    """Least and largest w × (degree − 1), heads averaged, over all targets and neighbours (Eq. 11 and 13).

    `query` and `key` are [F, K]. (1, 1) if no variable has two factors.
    """
    offsets, variable_edges, edge_factor = around
    heads, kind = query.shape[1], query.dtype.type
    largest = longest_row(offsets, 0, len(offsets) - 1)
    powers, weights, keys = apart(largest, query), apart(largest, query), rows_apart(heads, largest, query)
    low, high = np.inf, -np.inf
    for variable in range(len(offsets) - 1):
        edges = variable_edges[offsets[variable] : offsets[variable + 1]]
        degree = len(edges)
        if degree < 2:
            continue
        for m in range(degree):
            for k in range(heads):
                keys[k, m] = key[edge_factor[edges[m]], k]
        for target in range(degree):
            weights[:degree] = 0.0
            for k in range(heads):
                ours, row, total = query[edge_factor[edges[target]], k], keys[k], kind(0.0)
                for m in range(degree):
                    powers[m] = unit_exponential(sigmoid(ours + row[m]))
                    total += powers[m]
                scale = kind(degree - 1) / (kind(heads) * (total - powers[target]))
                for m in range(degree):
                    weights[m] += scale * powers[m]
            for m in range(degree):
                if m != target:
                    low, high = min(low, weights[m]), max(high, weights[m])
    return (low, high) if low <= high else (1.0, 1.0)


@kernel(fastmath={"nnan", "nsz"})
def held_range(around: VariableEdges, starts: Integers, weights: Floats) -> tuple[float, float]:
    """`weight_range` of weights that are held, as `held_weights` lays them out."""
    low, high, kind = np.inf, -np.inf, weights.dtype.type
    for variable in range(len(starts)):
        degree = around.offsets[variable + 1] - around.offsets[variable]
        for target in range(degree if degree > 1 else 0):
            begin = starts[variable] + target * whole_blocks(degree)
            row = weights[begin : begin + degree]
            least, most = kind(np.inf), kind(-np.inf)
            for m in range(target):
                least, most = min(least, row[m]), max(most, row[m])
            for m in range(target + 1, degree):
                least, most = min(least, row[m]), max(most, row[m])
            low, high = min(low, float(least)), max(high, float(most))
    return (low, high) if low <= high else (1.0, 1.0)
