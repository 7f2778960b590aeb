# mypy: disable-error-code="untyped-decorator"
"""The arrays that the attention of one variable works on, gathered from all edges, and room for it.

d is the variable's degree, K the number of heads, D the largest domain and `wide` D rounded up to whole blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.chebyshev import LARGEST
from dabp.kernels.attention.vectors import BLOCK, whole_blocks
from dabp.kernels.decorators import inner
from dabp.kernels.scratch import rows_apart

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]


class VariableEdges(NamedTuple):
    """The edges of each variable and their factors, copies counted."""

    offsets: Integers
    """[N + 1]: edges of variable i are ``edges[offsets[i]:offsets[i + 1]]``."""
    edges: Integers
    """[E]."""
    factor: Integers
    """[E]: the factor of each edge."""


class Inputs(NamedTuple):
    """What attention reads, or the gradients of that, whose terms are by edge."""

    heads: int
    """K."""
    terms: Floats
    """Addends of Eq. 10, [F, 2K or more]: K of a factor as the target (its queries), then K as a neighbour (keys)."""
    f2v: Floats
    """[E, D]."""


class Results(NamedTuple):
    """What attention makes of one variable's or of all edges, or the gradients of that."""

    damping: Floats
    """λ, [d] or [E]."""
    summed: Floats
    """(d − 1) Σ w f2v, [d, wide] or [E, D]."""


class Gathered(NamedTuple):
    """`Inputs` of one variable, or their gradients; rows beyond d are room for larger degrees."""

    queries: Floats
    """[K, d]."""
    keys: Floats
    """[K, d]."""
    messages: Floats
    """[d, wide], zero beyond D."""


class Room(NamedTuple):
    """Scratch of interpolation and of all pairs; R nodes, at most `LARGEST`."""

    basis: Floats
    """T_n(t_m), [R, d]."""
    sums: Floats
    """[R, wide + BLOCK]."""
    at_nodes: Floats
    """[R, wide + BLOCK]."""
    scores: Floats
    """a at the nodes, [R, d]."""
    powers: Floats
    """exp(a) at the nodes, [R, d]."""
    rows: Floats
    """[4, d], backwards [7, d]."""


class BackwardRoom(NamedTuple):
    """More scratch for the way back."""

    with_slope: Floats
    """[R, wide + BLOCK]."""
    with_power: Floats
    """[R, wide + BLOCK]."""
    dots: Floats
    """[R, d]."""
    columns: Floats
    """Gradients of the sums, [wide, d]."""


@inner
def gathered(largest: int, inputs: Inputs) -> Gathered:
    """Empty arrays for variables up to this degree."""
    heads, like = inputs.heads, inputs.f2v
    wide = whole_blocks(inputs.f2v.shape[1])
    return Gathered(rows_apart(heads, largest, like), rows_apart(heads, largest, like), rows_apart(largest, wide, like))


@inner
def room(largest: int, wide: int, rows: int, like: Floats) -> Room:
    """Scratch for variables up to this degree, with so many rows."""
    return Room(
        rows_apart(LARGEST, largest, like),
        rows_apart(LARGEST, wide + BLOCK, like),
        rows_apart(LARGEST, wide + BLOCK, like),
        rows_apart(LARGEST, largest, like),
        rows_apart(LARGEST, largest, like),
        rows_apart(rows, largest, like),
    )


@inner
def backward_room(largest: int, wide: int, like: Floats) -> BackwardRoom:
    """Scratch for variables up to this degree."""
    return BackwardRoom(
        rows_apart(LARGEST, wide + BLOCK, like),
        rows_apart(LARGEST, wide + BLOCK, like),
        rows_apart(LARGEST, largest, like),
        rows_apart(wide, largest, like),
    )


@inner
def gather(edges: Integers, factor: Integers, inputs: Inputs, variable: Gathered) -> None:
    """Copy what belongs to a variable with these edges; room up to whole blocks looks like the first of them."""
    gather_factors(edges, factor, inputs.terms, 0, variable.queries)
    gather_factors(edges, factor, inputs.terms, inputs.heads, variable.keys)
    gather_rows(edges, inputs.f2v, variable.messages)
    for m in range(len(edges), min(whole_blocks(len(edges)), variable.keys.shape[1])):
        for k in range(len(variable.keys)):
            variable.queries[k, m], variable.keys[k, m] = variable.queries[k, 0], variable.keys[k, 0]


@inner
def gather_factors(edges: Integers, factor: Integers, by_factor: Floats, begin: int, result: Floats) -> None:
    """K columns from column `begin` on, [F, …] → [K, d]."""
    for m in range(len(edges)):
        for k in range(len(result)):
            result[k, m] = by_factor[factor[edges[m]], begin + k]


@inner
def gather_rows(edges: Integers, by_edge: Floats, result: Floats) -> None:
    """[E, D] → [d, wide], zero beyond D."""
    width = by_edge.shape[1]
    for m in range(len(edges)):
        for x in range(result.shape[1]):
            result[m, x] = by_edge[edges[m], x] if x < width else by_edge.dtype.type(0.0)


@inner
def clear_row(row: Floats) -> None:
    """Write zeros."""
    for x in range(len(row)):
        row[x] = row.dtype.type(0.0)


@inner
def scatter_terms(edges: Integers, variable: Gathered, by_edge: Floats) -> None:
    """[K, d] twice → rows of the edges, [E, 2K or more], zero beyond."""
    heads = len(variable.keys)
    for m in range(len(edges)):
        row = by_edge[edges[m]]
        clear_row(row)
        for k in range(heads):
            row[k], row[heads + k] = variable.queries[k, m], variable.keys[k, m]
