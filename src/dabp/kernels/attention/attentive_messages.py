# mypy: disable-error-code="untyped-decorator"
"""Attention over the factors of a variable (paper Eq. 10-13): damping factors and weighted sums of messages.

Per variable of degree d, head k, target ℓ and neighbour m: a = σ(query_ℓ + key_m), w = softmax of a over m ≠ ℓ,
λ = σ(a_ℓ − mean of a over m ≠ ℓ). Variables are independent, so a range of them is a thread's share.
"""

from __future__ import annotations

import numpy as np

from dabp.kernels.attention.dense import BLOCK, LANES, Floats, sigmoid_of, whole_blocks
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
    mark,
    scratch_for,
)
from dabp.kernels.decorators import kernel
from dabp.kernels.rows import copy_row, longest_row
from dabp.kernels.simd import full_like, load, splat, store, sum_of
from dabp.kernels.simd_functions import exponential_of


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
    made = Results(np.empty(largest, summed.dtype), np.empty((largest, wide), summed.dtype))
    scratch = scratch_for(largest, wide, summed.dtype)
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
    given = Results(np.empty(largest, inputs.f2v.dtype), np.empty((largest, wide), inputs.f2v.dtype))
    scratch = scratch_for(largest, wide, inputs.f2v.dtype)
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


@kernel
def weight_range(around: VariableEdges, heads: int, terms: Floats) -> tuple[float, float]:
    """Least and largest w × (degree − 1), heads averaged, over all targets and neighbours (Eq. 11 and 13).

    `terms` is that of `Inputs`. (1, 1) if no variable has two factors.
    """
    offsets, kind = around.offsets, terms.dtype.type
    largest = whole_blocks(longest_row(offsets, 0, len(offsets) - 1))
    powers, weights = np.empty(largest, terms.dtype), np.empty(largest, terms.dtype)
    valid, keys = np.empty(largest, terms.dtype), np.zeros((heads, largest), terms.dtype)
    low, high = np.inf, -np.inf
    for variable in range(len(offsets) - 1):
        edges = around.edges[offsets[variable] : offsets[variable + 1]]
        degree = len(edges)
        if degree < 2:
            continue
        mark(degree, valid)
        gather_terms(edges, around.factor, terms, heads, keys)
        for target in range(degree):
            weights[: whole_blocks(degree)] = kind(0.0)
            for k in range(heads):
                query = splat(terms, around.factor[edges[target]] * terms.shape[1] + k, LANES)
                total = full_like(0.0, query)
                for m in range(0, degree, BLOCK):
                    power = exponential_of(sigmoid_of(query + load(keys[k], m, LANES))) * load(valid, m, LANES)
                    store(powers, m, power)
                    total = total + power
                scale = full_like(kind(degree - 1) / (kind(heads) * (sum_of(total) - powers[target])), total)
                for m in range(0, degree, BLOCK):
                    store(weights, m, load(weights, m, LANES) + scale * load(powers, m, LANES))
            for m in range(degree):
                if m != target:
                    low, high = min(low, weights[m]), max(high, weights[m])
    return (low, high) if low <= high else (1.0, 1.0)
