# mypy: disable-error-code="untyped-decorator"
"""The arrays that the attention of one variable works on, gathered from all edges, and room for it.

d is the variable's degree, K the number of heads, D the largest domain and `wide` D rounded up to whole blocks.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.chebyshev import LARGEST
from dabp.kernels.decorators import inner
from dabp.kernels.scratch import rows_apart

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]

BLOCK = 8
"""Message entries are handled in blocks of this constant length, which LLVM turns into vectors."""


class VariableEdges(NamedTuple):
    """The edges of each variable and their factors, copies counted."""

    offsets: Integers
    """[N + 1]: edges of variable i are ``edges[offsets[i]:offsets[i + 1]]``."""
    edges: Integers
    """[E]."""
    factor: Integers
    """[E]: the factor of each edge."""


class Inputs(NamedTuple):
    """What attention reads."""

    query: Floats
    """[F, K]."""
    key: Floats
    """[F, K]."""
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
    """[R, wide + 1]."""
    at_nodes: Floats
    """[R, wide + 1]."""
    scores: Floats
    """a at the nodes, [R, d]."""
    powers: Floats
    """exp(a) at the nodes, [R, d]."""
    rows: Floats
    """[4, d], backwards [7, d]."""


class BackwardRoom(NamedTuple):
    """More scratch for the way back."""

    with_slope: Floats
    """[R, wide + 1]."""
    with_power: Floats
    """[R, wide + 1]."""
    dots: Floats
    """[R, d]."""


@inner
def gathered(largest: int, inputs: Inputs) -> Gathered:
    """Empty arrays for variables up to this degree."""
    heads, like = inputs.query.shape[1], inputs.f2v
    wide = (inputs.f2v.shape[1] + BLOCK - 1) // BLOCK * BLOCK
    return Gathered(rows_apart(heads, largest, like), rows_apart(heads, largest, like), rows_apart(largest, wide, like))


@inner
def room(largest: int, wide: int, rows: int, like: Floats) -> Room:
    """Scratch for variables up to this degree, with so many rows."""
    return Room(
        rows_apart(LARGEST, largest, like),
        rows_apart(LARGEST, wide + 1, like),
        rows_apart(LARGEST, wide + 1, like),
        rows_apart(LARGEST, largest, like),
        rows_apart(LARGEST, largest, like),
        rows_apart(rows, largest, like),
    )


@inner
def backward_room(largest: int, wide: int, like: Floats) -> BackwardRoom:
    """Scratch for variables up to this degree."""
    return BackwardRoom(
        rows_apart(LARGEST, wide + 1, like), rows_apart(LARGEST, wide + 1, like), rows_apart(LARGEST, largest, like)
    )


@inner
def gather(edges: Integers, factor: Integers, inputs: Inputs, variable: Gathered) -> None:
    """Copy what belongs to a variable with these edges."""
    gather_factors(edges, factor, inputs.query, variable.queries)
    gather_factors(edges, factor, inputs.key, variable.keys)
    gather_rows(edges, inputs.f2v, variable.messages)


@inner
def gather_factors(edges: Integers, factor: Integers, by_factor: Floats, result: Floats) -> None:
    """[F, K] → [K, d]."""
    for m in range(len(edges)):
        for k in range(len(result)):
            result[k, m] = by_factor[factor[edges[m]], k]


@inner
def gather_rows(edges: Integers, by_edge: Floats, result: Floats) -> None:
    """[E, D] → [d, wide], zero beyond D."""
    width = by_edge.shape[1]
    for m in range(len(edges)):
        for x in range(result.shape[1]):
            result[m, x] = by_edge[edges[m], x] if x < width else by_edge.dtype.type(0.0)
