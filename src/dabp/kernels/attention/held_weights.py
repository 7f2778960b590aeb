# mypy: disable-error-code="untyped-decorator"
"""Weights that stay for several iterations, and new variable→factor messages with them: small products of matrices.

Variable i with d edges has its weights w × (d − 1) as a block of d rows, one of each target, from ``starts[i]`` of a
flat array: the neighbours', zero on the diagonal, and zeros up to whole vectors. Its messages are d rows; its weighted
sums are the product of its block with them, and are damped while they are in the cache. Variables are independent, so a
range of them is a thread's share.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.composition import EXACT, Edges, Parts, composed, composed_backward, once_masks
from dabp.kernels.attention.dense import product
from dabp.kernels.attention.one_variable import VariableEdges, clear_row, gather_factors
from dabp.kernels.attention.vectors import BLOCK, LANES, SINGLE, whole_blocks
from dabp.kernels.decorators import kernel, part
from dabp.kernels.elementary import FAST, sigmoid, unit_exponential
from dabp.kernels.rows import longest_row
from dabp.kernels.scratch import apart, rows_apart
from dabp.kernels.simd import full_like, load, store

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]


class HeldBlocks(NamedTuple):
    """Weights w × (d − 1) as `hold` lays them out."""

    starts: Integers
    """[N]."""
    weights: Floats
    """Flat."""


class Step(NamedTuple):
    """What new messages are made of, and they themselves."""

    damping: Floats
    """λ, [E]."""
    v2f: Floats
    """[E, D]."""
    f2v: Floats
    """[E, D]."""
    new: Floats
    """[E, D]."""
    shifts: Floats
    """[E]: what was taken off each new message for its minimum to be 0; the way back finds the sums by it."""


class Gradients(NamedTuple):
    """Of what `Step` and `HeldBlocks` have."""

    damping: Floats
    v2f: Floats
    f2v: Floats
    weights: Floats


@kernel(fastmath=FAST)
def hold(
    first: int, last: int, around: VariableEdges, starts: Integers, heads: int, terms: Floats, weights: Floats
) -> None:
    """Write the blocks of variables first..last − 1: w, a softmax of σ(query + key) over the others, mean of heads."""
    offsets, kind = around.offsets, terms.dtype.type
    largest = longest_row(offsets, first, last)
    keys, powers = rows_apart(heads, largest, terms), apart(largest, terms)
    for i in range(first, last):
        edges = around.edges[offsets[i] : offsets[i + 1]]
        degree = len(edges)
        gather_factors(edges, around.factor, terms, heads, keys)
        for target in range(degree if degree > 1 else 0):
            begin = starts[i] + target * whole_blocks(degree)
            block = weights[begin : begin + degree]
            block[:] = kind(0.0)
            for k in range(heads):
                ours, row, total = terms[around.factor[edges[target]], k], keys[k], kind(0.0)
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
    heads: int,
    terms: Floats,
    gradient: Floats,
    by_edge: Floats,
) -> None:
    """Write the gradients of `hold` edge by edge, given that of the weights; 0 where a variable has one factor."""
    offsets, kind = around.offsets, terms.dtype.type
    largest, one = longest_row(offsets, first, last), kind(1.0)
    keys, of_keys = rows_apart(heads, largest, terms), rows_apart(heads, largest, terms)
    scores, powers = apart(largest, terms), apart(largest, terms)
    for i in range(first, last):
        edges = around.edges[offsets[i] : offsets[i + 1]]
        degree = len(edges)
        gather_factors(edges, around.factor, terms, heads, keys)
        of_keys[:, :degree] = kind(0.0)
        for m in range(degree):
            clear_row(by_edge[edges[m]])
        for target in range(degree if degree > 1 else 0):
            begin = starts[i] + target * whole_blocks(degree)
            given = gradient[begin : begin + degree]
            for k in range(heads):
                ours, row = terms[around.factor[edges[target]], k], keys[k]
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
                by_edge[edges[target], k] = of_query
        for m in range(degree):
            for k in range(heads):
                by_edge[edges[m], heads + k] = of_keys[k, m]


@part(_nrt=False)
def _gather(edges: Integers, by_edge: Floats, wide: int, rows: Floats) -> None:
    """Copy the rows of these edges one below the other, `wide` numbers apart; what is beyond stays as it is.

    The last vector of a row ends with it, and overlaps the one before.
    """
    width = by_edge.shape[1]
    for m in range(len(edges)):
        if width >= BLOCK:
            for x in range(0, width, BLOCK):
                begin = min(x, width - BLOCK)
                store(rows, m * wide + begin, load(by_edge, edges[m] * width + begin, LANES))
        else:
            for x in range(width):
                rows[m * wide + x] = by_edge[edges[m], x]


@part(_nrt=False)
def _scatter(edges: Integers, rows: Floats, wide: int, by_edge: Floats) -> None:
    """The way back of `_gather`."""
    width = by_edge.shape[1]
    for m in range(len(edges)):
        if width >= BLOCK:
            for x in range(0, width, BLOCK):
                begin = min(x, width - BLOCK)
                store(by_edge, edges[m] * width + begin, load(rows, m * wide + begin, LANES))
        else:
            for x in range(width):
                by_edge[edges[m], x] = rows[m * wide + x]


@part(_nrt=False)
def _turn(edges: Integers, by_edge: Floats, broad: int, columns: Floats) -> None:
    """The rows of these edges as columns, [D, broad]; what is in the room beyond them does not matter."""
    width = by_edge.shape[1]
    for m in range(len(edges)):
        start = edges[m] * width
        for x in range(width):
            store(columns, x * broad + m, load(by_edge, start + x, SINGLE))


@kernel(fastmath=EXACT)
def pass_on(first: int, last: int, around: VariableEdges, held: HeldBlocks, edges: Edges, step: Step) -> None:
    """Write new messages as `compose` does, from others = (d − 1) Σ w f2v, and what they were shifted by.

    For the edges of variables first..last − 1; a variable with one factor sends its unary costs.
    """
    offsets, f2v = around.offsets, step.f2v
    largest, wide = longest_row(offsets, first, last), whole_blocks(f2v.shape[1])
    messages, others = np.zeros(largest * wide, f2v.dtype), np.empty(largest * wide, f2v.dtype)
    parts = Parts(step.damping, step.v2f, others)
    for i in range(first, last):
        here, start = around.edges[offsets[i] : offsets[i + 1]], held.starts[i]
        degree = len(here)
        _gather(here, f2v, wide, messages)
        product(degree, degree, held.weights, start, whole_blocks(degree), 1, messages, 0, wide, others, 0, True)
        for m in range(degree):
            step.shifts[here[m]] = composed(here[m], m * wide, edges, parts, step.new)


@part(_nrt=False)
def _others_again(e: int, at: int, edges: Edges, step: Step, others: Floats) -> None:
    """The weighted sums of an edge from its new message: (new + shift − λ v2f) / (1 − λ) − unary; λ is below 0.74."""
    size, begin = edges.sizes[e], e * step.new.shape[1]
    one = step.new.dtype.type(1.0)
    share, shift, inverse = step.damping[e], step.shifts[e], one / (one - step.damping[e])
    if size >= BLOCK:
        for n in range(0, size, BLOCK):
            x = min(n, size - BLOCK)
            raw = load(step.new, begin + x, LANES)
            raw = raw + full_like(shift, raw) - full_like(share, raw) * load(step.v2f, begin + x, LANES)
            store(others, at + x, raw * full_like(inverse, raw) - load(edges.unary, begin + x, LANES))
    else:
        for x in range(size):
            raw = step.new[e, x] + shift - share * step.v2f[e, x]
            others[at + x] = raw * inverse - edges.unary[e, x]


@kernel
def pass_on_backward(
    first: int,
    last: int,
    around: VariableEdges,
    held: HeldBlocks,
    edges: Edges,
    step: Step,
    gradient: Floats,
    gradients: Gradients,
    fresh: bool,
) -> None:
    """Write the gradients of `pass_on`, given that of new messages; those of weights are added to unless `fresh`."""
    offsets, f2v = around.offsets, step.f2v
    largest, width, kind = longest_row(offsets, first, last), f2v.shape[1], f2v.dtype
    wide = whole_blocks(width)
    others, of_others = np.empty(largest * wide, kind), np.zeros(largest * wide, kind)
    out, columns = np.empty(largest * wide, kind), np.zeros(width * whole_blocks(largest), kind)
    once = once_masks(f2v)
    parts, made = Parts(step.damping, step.v2f, others), Parts(gradients.damping, gradients.v2f, of_others)
    for i in range(first, last):
        here, start = around.edges[offsets[i] : offsets[i + 1]], held.starts[i]
        degree = len(here)
        broad = whole_blocks(degree)
        for m in range(degree):
            _others_again(here[m], m * wide, edges, step, others)
            composed_backward(here[m], m * wide, once, edges, parts, step.new, gradient, made)
        product(degree, degree, held.weights, start, 1, broad, of_others, 0, wide, out, 0, True)
        _scatter(here, out, wide, gradients.f2v)
        _turn(here, f2v, broad, columns)
        product(degree, width, of_others, 0, wide, 1, columns, 0, broad, gradients.weights, start, fresh)
