"""The arrays that the fused iteration reads: which they are; `dabp.graph.message_layout` fills them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PADDING = 1e30
"""Larger than any belief, small enough that sums of it stay finite in float32."""

Reals = NDArray[np.floating[Any]]
Ints = NDArray[np.int64]


class Layout(NamedTuple):
    """Arrays the kernels read. Positions count numbers from the start of a flat array; C is the number of copies."""

    domain: Ints
    """[N]: number of values."""
    unary_start: Ints
    """[N + 1]: padded slice of each variable in `unary`, `mask` and the field."""
    edge_start: Ints
    """[N + 1]: edges by variable."""
    message_start: Ints
    """[N + 1]: padded slice of all messages of each variable in ``v2f`` and ``f2v``, edge after edge."""
    unary: Reals
    mask: Reals
    """1 where a value is, 0 where padding is."""
    edge_scale: Reals
    """[E]: the scale s of the copy at each edge."""
    tables: Reals
    pair_groups: Ints
    """[K, 8]: for the factors of arity 2 of one shape their range (start, stop), domain sizes and padded domain
    sizes of the two variables, and the distances between rows of the two tables."""
    pair_table: Ints
    """[B]: position of the table whose lanes run over the first variable; the one over the second follows."""
    pair_message: Ints
    """[B, 2]: position of the first copy's message, by variable; that of the second copy follows."""
    many_start: Ints
    """[M + 1]: scopes of the factors of arity 3 and more in `many_domain` and `many_message`."""
    many_domain: Ints
    many_message: Ints
    """[sum of arities, C]."""
    many_table: Ints
    """[M]: position of its table; lanes run over the last variable."""
    cost_start: Ints
    """[F + 1]: scopes of all factors of the problem in `cost_variable` and `cost_stride`."""
    cost_variable: Ints
    cost_stride: Ints
    cost_base: Ints
    """[F]: with it, ``pool[cost_base + Σ value · stride]`` is the exact cost of a factor."""
    factor_start: Ints
    """[N + 1]: the factors of each variable in `factor_of`."""
    factor_of: Ints
    pool: NDArray[np.float64]
