# mypy: disable-error-code="untyped-decorator"
"""Attention over the factors of a variable (paper Eq. 10-13): damping factors and weighted sums of messages.

Per variable of degree d, head k, target ℓ and neighbour m: a = σ(query_ℓ + key_m), w = softmax of a over m ≠ ℓ,
λ = σ(a_ℓ − mean of a over m ≠ ℓ). Variables are independent, so a range of them is a thread's share.
"""

from __future__ import annotations

import numpy as np

from dabp.kernels.attention.dense import Floats, whole_blocks
from dabp.kernels.attention.interpolated_attention import Interpolation, interpolated, interpolated_backward, pays
from dabp.kernels.attention.one_variable import (
    Inputs,
    Results,
    VariableEdges,
    all_pairs,
    all_pairs_backward,
    gather,
    gather_rows,
    gather_terms,
    gathered,
    scratch_for,
)
from dabp.kernels.decorators import kernel
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential
from dabp.kernels.rows import copy_row, longest_row
from dabp.kernels.scratch import apart, rows_apart


@kernel
def attend(
    first: int, last: int, around: VariableEdges, table: Interpolation, inputs: Inputs, results: Results
) -> None:
    """Write λ and (d − 1) Σ w f2v for the edges of variables first..last − 1."""
    offsets, width = around.offsets, inputs.f2v.shape[1]
    damping, summed = results
    largest = whole_blocks(longest_row(offsets, first, last))
    variable = gathered(largest, inputs)
    wide = variable.messages.shape[1]
    made = Results(apart(largest, summed), rows_apart(largest, wide, summed))
    scratch = scratch_for(largest, wide, summed)
    for i in range(first, last):
        edges = around.edges[offsets[i] : offsets[i + 1]]
        degree = len(edges)
        if degree == 1:
            damping[edges[0]] = 0.0
            summed[edges[0]] = 0.0
            continue
        gather(edges, around.factor, inputs, variable)
        if pays(variable.keys, degree, table.limits):
            interpolated(degree, variable, table, scratch, made)
        else:
            all_pairs(degree, variable, scratch, made)
        for m in range(degree):
            damping[edges[m]] = made.damping[m]
            copy_row(made.summed[m], width, summed[edges[m]], 0)


@kernel
def attend_backward(
    first: int, last: int, around: VariableEdges, table: Interpolation, inputs: Inputs, gradients: Results,
    by_edge: Inputs,
) -> None:  # fmt: skip
    """Write the gradients of `attend`, those of the terms by edge, given those of its results."""
    offsets, width, heads = around.offsets, inputs.f2v.shape[1], inputs.heads
    largest = whole_blocks(longest_row(offsets, first, last))
    variable, made = gathered(largest, inputs), gathered(largest, inputs)
    wide = variable.messages.shape[1]
    given = Results(apart(largest, inputs.f2v), rows_apart(largest, wide, inputs.f2v))
    scratch = scratch_for(largest, wide, inputs.f2v)
    for i in range(first, last):
        edges = around.edges[offsets[i] : offsets[i + 1]]
        degree = len(edges)
        if degree == 1:
            by_edge.terms[edges[0]] = by_edge.f2v[edges[0]] = 0.0
            continue
        gather(edges, around.factor, inputs, variable)
        gather_rows(edges, gradients.summed, given.summed)
        made.messages[:degree] = 0.0
        for m in range(degree):
            given.damping[m] = gradients.damping[edges[m]]
        given.damping[degree : whole_blocks(degree)] = 0.0
        if pays(variable.keys, degree, table.limits):
            interpolated_backward(degree, variable, table, scratch, given, made)
        else:
            all_pairs_backward(degree, variable, scratch, given, made)
        for m in range(degree):
            row = by_edge.terms[edges[m]]
            row[:] = 0.0
            for k in range(heads):
                row[k], row[heads + k] = made.queries[k, m], made.keys[k, m]
            copy_row(made.messages[m], width, by_edge.f2v[edges[m]], 0)


@kernel(fastmath=FAST)
def weight_range(around: VariableEdges, heads: int, terms: Floats) -> tuple[float, float]:
    """Least and largest w × (degree − 1), heads averaged, over all targets and neighbours (Eq. 11 and 13).

    `terms` is that of `Inputs`. (1, 1) if no variable has two factors.
    """
    offsets, variable_edges, edge_factor = around
    kind = terms.dtype.type
    largest = longest_row(offsets, 0, len(offsets) - 1)
    powers, weights, keys = apart(largest, terms), apart(largest, terms), rows_apart(heads, largest, terms)
    low, high = np.inf, -np.inf
    for variable in range(len(offsets) - 1):
        edges = variable_edges[offsets[variable] : offsets[variable + 1]]
        degree = len(edges)
        if degree < 2:
            continue
        gather_terms(edges, edge_factor, terms, heads, keys)
        for target in range(degree):
            weights[:degree] = 0.0
            for k in range(heads):
                ours, row, total = terms[edge_factor[edges[target]], k], keys[k], kind(0.0)
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
