"""The arrays that the fused iteration reads: which they are; `dabp.graph.message_layout` fills them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PADDING = 1e30
"""Larger than any belief, small enough that sums of it stay finite in float32."""

Reals = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


class Variables(NamedTuple):
    """The N variables: their slices, and their unary costs padded to whole vectors."""

    domain: Ints
    """[N]: number of values."""
    unary_start: Ints
    """[N + 1]: padded slice of each variable in `unary`, `mask` and the field."""
    edge_start: Ints
    """[N + 1]: edges by variable."""
    message_start: Ints
    """[N + 1]: padded slice of all messages of each variable in ``v2f`` and ``f2v``, edge after edge."""
    unary: Reals
    """Scaled unary costs, `PADDING` in padded lanes."""
    mask: Reals
    """1 where a value is, 0 where padding is."""
    edge_scale: Reals
    """[E]: the scale s of the copy at each edge."""


class PairShape(NamedTuple):
    """What the factors of arity 2 with the same two domain sizes have in common; a row of `Pairs.groups`."""

    start: int
    """The first of them in `Pairs.table` and `Pairs.message`."""
    stop: int
    first_domain: int
    second_domain: int
    first_width: int
    """The first domain, padded."""
    second_width: int
    first_step: int
    """Distance between rows of the table whose lanes run over the first variable."""
    second_step: int


class Pairs(NamedTuple):
    """The B factors of arity 2, by shape and then by first variable."""

    groups: Ints
    """[K, 8]: a `PairShape` each."""
    table: Ints
    """[B]: position of the table whose lanes run over the first variable; the one over the second follows."""
    message: Ints
    """[B, 2]: position of the first copy's message, by variable; that of the second copy follows."""


class Many(NamedTuple):
    """The M factors of arity 3 and more; C is the number of copies."""

    start: Ints
    """[M + 1]: their scopes in `domain` and `message`."""
    domain: Ints
    """[sum of arities]."""
    message: Ints
    """[sum of arities, C]: positions of messages."""
    table: Ints
    """[M]: position of its table; lanes run over the last variable."""


class ExactCosts(NamedTuple):
    """The problem's own tables: ``pool[base + Σ value · stride]`` is the exact cost of a factor."""

    start: Ints
    """[F + 1]: scopes of all factors of the problem in `variable` and `stride`."""
    variable: Ints
    stride: Ints
    base: Ints
    """[F]."""
    factor_start: Ints
    """[N + 1]: the factors of each variable in `factor_of`."""
    factor_of: Ints
    pool: NDArray[np.float64]


class Layout(NamedTuple):
    """Arrays the kernels read. Positions count numbers from the start of a flat array."""

    variables: Variables
    tables: Reals
    """All scaled tables of arity 2 and more, as `Pairs` and `Many` say."""
    pairs: Pairs
    many: Many
    exact: ExactCosts
