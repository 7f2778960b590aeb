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
    step: Ints
    """[N]: distance between rows of tables of two variables whose lanes run over this one."""
    message_start: Ints
    """[N + 1]: padded slice of all messages of each variable in ``v2f`` and ``f2v``, edge after edge."""
    unary: Reals
    """Scaled unary costs, `PADDING` in padded lanes."""
    mask: Reals
    """1 where a value is, 0 where padding is."""
    edge_scale: Reals
    """[E]: the scale s of the copy at each edge."""
    scales: Reals
    """[2]: of the copies, which take turns among the edges of a variable; twice the same if there is one."""
    inverse: NDArray[np.float64]
    """[2]: one over them."""


UNIT = 2
"""Positions of messages are multiples of this: of the shortest vector."""
AHEAD = 16
"""How many factors ahead messages are fetched from memory."""
EARLY, EARLY_TABLES = 48, 24
"""How many factors ahead messages and tables are where they do not stay in caches."""
NEAR = 2**17
"""Messages or tables of more numbers do not stay in caches."""


class PairTables(NamedTuple):
    """The tables of one shape in one orientation, one after another by first use; a row of `Pairs.blocks`."""

    start: int
    tables: int
    rows: int
    """The values of the sender."""
    step: int
    """Distance between rows; lanes run over the values of the receiver."""


class Pairs(NamedTuple):
    """What variables hear from factors of arity 2, a place for each factor of each variable, by variable.

    Split copies of a factor share a place: those of variable i are ``edge_start[i] // C … edge_start[i + 1] // C``.
    """

    blocks: Ints
    """[K, 4]: a `PairTables` each."""
    table: Ints
    """Position of the table whose lanes run over this variable; −1 for a factor of higher arity.

    Like `source` it can be read past its end.
    """
    source: NDArray[np.int32]
    """Position of the other variable's message to the factor, over `UNIT`; that of a second copy follows.

    `EARLY` zeros more at the end, so that there is always something to fetch.
    """
    rows: NDArray[np.int32]
    """How many values the other variable has."""
    other: NDArray[np.int32]
    """The other variable; as long as `source`."""


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
    rest: Ints
    """The factors that are not of arity 2."""
    unit: float
    """All costs are whole numbers, and numbers of `Layout.tables` times this are nearest to them; 0 if not so."""


class Layout(NamedTuple):
    """Arrays the kernels read. Positions count numbers from the start of a flat array."""

    variables: Variables
    tables: Reals
    """All scaled tables of arity 2 and more, as `Pairs` and `Many` say."""
    pairs: Pairs
    many: Many
    exact: ExactCosts
