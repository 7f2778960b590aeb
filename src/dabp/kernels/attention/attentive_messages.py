# mypy: disable-error-code="untyped-decorator"
"""Attention over the factors of a variable (paper Eq. 10-13): damping factors and weighted sums of messages.

Per variable of degree d, head k, target ℓ and neighbour m: a = σ(query_ℓ + key_m), w = softmax of a over m ≠ ℓ,
λ = σ(a_ℓ − mean of a over m ≠ ℓ). Nothing of size d × d is ever stored. Variables are independent, so a range of
them is a thread's share.
"""

from __future__ import annotations

from dabp.kernels.attention.all_pairs import all_pairs, all_pairs_backward
from dabp.kernels.attention.chebyshev import Interpolation
from dabp.kernels.attention.interpolated_attention import interpolated, interpolated_backward, pays
from dabp.kernels.attention.one_variable import (
    Inputs,
    Results,
    VariableEdges,
    backward_room,
    gather,
    gather_rows,
    gathered,
    room,
    whole_blocks,
)
from dabp.kernels.decorators import kernel
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
    scratch = room(largest, wide, 4, summed)
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
            all_pairs(degree, variable, scratch.rows, made)
        for m in range(degree):
            damping[edges[m]] = made.damping[m]
            copy_row(made.summed[m], width, summed[edges[m]], 0)


@kernel
def attend_backward(
    first: int,
    last: int,
    around: VariableEdges,
    table: Interpolation,
    inputs: Inputs,
    gradients: Results,
    by_edge: Inputs,
) -> None:
    """Write the gradients of `attend`, those of query and key by edge [E, K], given those of its results."""
    offsets, width, heads = around.offsets, inputs.f2v.shape[1], inputs.query.shape[1]
    largest = whole_blocks(longest_row(offsets, first, last))
    variable, made = gathered(largest, inputs), gathered(largest, inputs)
    wide = variable.messages.shape[1]
    given = Results(apart(largest, inputs.f2v), rows_apart(largest, wide, inputs.f2v))
    scratch, more = room(largest, wide, 7, inputs.f2v), backward_room(largest, wide, inputs.f2v)
    for i in range(first, last):
        edges = around.edges[offsets[i] : offsets[i + 1]]
        degree = len(edges)
        if degree == 1:
            by_edge.query[edges[0]] = 0.0
            by_edge.key[edges[0]] = 0.0
            by_edge.f2v[edges[0]] = 0.0
            continue
        gather(edges, around.factor, inputs, variable)
        gather_rows(edges, gradients.summed, given.summed)
        made.messages[:degree] = 0.0
        for m in range(degree):
            given.damping[m] = gradients.damping[edges[m]]
        given.damping[degree : whole_blocks(degree)] = 0.0
        if pays(variable.keys, degree, table.limits):
            interpolated_backward(degree, variable, table, scratch, more, given, made)
        else:
            all_pairs_backward(degree, variable, scratch.rows, more.columns, given, made)
        for m in range(degree):
            for k in range(heads):
                by_edge.query[edges[m], k] = made.queries[k, m]
                by_edge.key[edges[m], k] = made.keys[k, m]
            copy_row(made.messages[m], width, by_edge.f2v[edges[m]], 0)
