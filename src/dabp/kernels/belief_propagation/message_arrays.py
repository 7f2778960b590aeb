"""The arrays of an iteration: those that it reads (`Layout`), those that it changes (`Memory`), and its `Rules`.

`dabp.graph.message_layout` fills the layout. Positions are indices of flat arrays.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

PADDING = 1e30
"""Larger than any belief, small enough that sums of it stay finite in float32."""

UNIT = 2
"""Positions of messages are multiples of this, the length of the shortest vector."""
AHEAD = 16
"""Factors before its use that a message is fetched from memory."""
EARLY = 48
"""Factors before its use that a message is fetched which does not stay in caches."""
EARLY_TABLES = 24
"""Factors before its use that a table is fetched which does not stay in caches."""
NEAR = 2**17
"""Arrays of messages or tables with more numbers than this do not stay in caches."""

RUNNING = 0
"""A run of iterations ended because it was long enough."""
CONVERGED = 1
"""A run of iterations ended because messages stopped changing."""
SETTLED = 2
"""A run of iterations ended because values stopped changing."""

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
    scales: Reals
    """[2]: the scale s of each copy; copies alternate among the edges of a variable. Twice the same without copies."""
    inverse: NDArray[np.float64]
    """[2]: 1 / `scales`."""


class Pairs(NamedTuple):
    """The factors of arity 2, one place for each factor of each variable, by variable.

    Split copies of a factor share a place: variable i has ``edge_start[i] // C … edge_start[i + 1] // C``.
    """

    table: Ints
    """Position of the table whose lanes run over this variable; −1 for a factor of higher arity.

    `EARLY` more numbers follow `table` and `source`, so that they can be read past their ends.
    """
    source: NDArray[np.int32]
    """Position of the other variable's message to the factor, over `UNIT`; that of a second copy follows."""
    rows: NDArray[np.int32]
    """How many values the other variable has."""


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
    """Arrays that iterations read."""

    variables: Variables
    tables: Reals
    """All scaled tables of arity 2 and more, as `Pairs` and `Many` say."""
    pairs: Pairs
    many: Many
    exact: ExactCosts


PROGRESS = np.dtype(
    [
        ("iterations", np.int64),  # since the start
        ("unchanged", np.int64),  # iterations since a value last changed
        ("best_at", np.int64),  # iterations until the best cost of this start
        ("current", np.float64),  # cost of `Memory.assignment`
        ("best", np.float64),  # cost of `Memory.best`
        ("best_of_start", np.float64),  # the least cost since the start
    ]
)
"""The record of a run's counters and costs."""


class Memory(NamedTuple):
    """Arrays that iterations change."""

    v2f: Reals
    """Variable→factor messages, those of a copy with scale s divided by s."""
    fresh: Reals
    """Variable→factor messages of the next iteration, if `fused`."""
    f2v: Reals
    """Factor→variable messages, likewise divided, of all variables or of the one that is updated."""
    fused: bool
    """Whether updates of variables make the f2v messages of pairs; else new v2f messages replace the old ones."""
    f2v_of_all: bool
    """Whether `f2v` has the messages of all variables."""
    field: Reals
    """Reinforced BP's field, padded like the unary costs."""
    damping: Reals
    """[E], edges by variable."""
    assignment: NDArray[np.int32]
    """[N]: the values decoded last, −1 before the first iteration."""
    best: Ints
    """[N]: the best values decoded so far."""
    moved: NDArray[np.bool_]
    """[N]: variables whose value changed in the last iteration."""
    priced: NDArray[np.float64]
    """[F]: exact cost of each factor under `assignment`."""
    values: Ints
    """Scratch for the values of one row of a table of the largest arity."""
    progress: NDArray[Any]
    """[1]: a `PROGRESS` record."""


class Rules(NamedTuple):
    """Reinforcement, and when a run ends."""

    rate: float = 0.0
    """Reinforcement, 0 = none."""
    tolerance: float = 0.0
    """Converged when no v2f message changes by as much, in scaled units."""
    patience: int = 0
    """Settled when no value has changed for this number of iterations; 0 = never."""
    constant: float = 0.0
    """Added to every cost."""
