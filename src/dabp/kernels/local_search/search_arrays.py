"""The arrays of local search: a problem compiled for it (`Costs`) and where a search stands (`State`).

Rows of local costs are padded to a multiple of `LANES`. Factors of two variables are edges, there once from each of
their ends with tables padded to whole rows; wider ones are gathered from their tables by strides. Finite costs ("soft")
and forbidden combinations ("hard", 1 where forbidden, else 0) have tables of their own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.simd import lanes_of

LANES = 8
"""Rows are padded to a multiple of this, and handled that many values at a time."""

ROW = lanes_of(LANES)

SOFT, WEIGHTED, VIOLATIONS, BEST, FEASIBLE, JOURNAL, LEVEL = range(7)
"""Places of `State.tally`: the assignment's finite cost, that plus the weights of what it violates, how many factors
forbid it; the best feasible cost and whether there is one; the journal's length; the least weighted cost lately."""

NOTHING = int(np.iinfo(np.int64).max)
"""The cost of an iteration that saw nothing feasible."""


class Rows(NamedTuple):
    """Where each variable's values lie; N variables, R = sum of the widths."""

    size: NDArray[np.int64]
    """Domain sizes, [N]."""
    start: NDArray[np.int64]
    """Where variable i's row of L begins, [N]."""
    width: NDArray[np.int64]
    """Padded row lengths, [N]."""
    unary: NDArray[Any]
    """A variable's own costs; `pad` where padded or forbidden, [R]."""
    pad: int
    """Larger than any difference of local costs."""
    heaviest: int
    """No factor gains weight beyond this, so that local costs stay well below `pad`."""
    uniform: int
    """The width of all rows, 0 if they differ."""


class Edges(NamedTuple):
    """Factors of two variables, once from each end; E edges."""

    offsets: NDArray[np.int64]
    """Those that start at variable i are ``offsets[i]:offsets[i + 1]``, [N + 1]."""
    target: NDArray[np.int64]
    """The other variable, [E]."""
    soft_at: NDArray[np.int64]
    """Where in `soft` the finite costs begin, a padded row of the target for each value of i; −1 if all are 0, [E]."""
    hard_at: NDArray[np.int64]
    """Where in `hard` the forbidden combinations begin, laid out the same; −1 if there are none, [E]."""
    weight: NDArray[np.int64]
    """Which of `State.weights` the forbidden combinations have, [E]."""
    soft: NDArray[Any]
    """Finite costs, padded with 0."""
    hard: NDArray[Any]
    """1 where forbidden, padded with 0."""


class Wide(NamedTuple):
    """Factors of three or more variables; K factors."""

    offsets: NDArray[np.int64]
    """Those at variable i are ``offsets[i]:offsets[i + 1]`` of `factor` and `stride`, [N + 1]."""
    factor: NDArray[np.int64]
    """Which factor."""
    stride: NDArray[np.int64]
    """How far one value of i moves in its table."""
    scope_offsets: NDArray[np.int64]
    """Where each factor's scope begins in the next two, [K + 1]."""
    scope_variable: NDArray[np.int64]
    """The variables of the scopes."""
    scope_stride: NDArray[np.int64]
    """How far one value of each moves in the table."""
    soft_at: NDArray[np.int64]
    """Where in `soft` the factor's finite costs begin, −1 if all are 0, [K]."""
    hard_at: NDArray[np.int64]
    """Where in `hard` its forbidden combinations begin, −1 if there are none, [K]."""
    weight: NDArray[np.int64]
    """Which of `State.weights` they have, [K]."""
    soft: NDArray[Any]
    """Finite costs."""
    hard: NDArray[Any]
    """1 where forbidden."""


class Hard(NamedTuple):
    """Factors of two or more variables that forbid something, in the order of `State.weights`; H factors."""

    offsets: NDArray[np.int64]
    """Where each one's scope begins in `scope` and `edge`, [H + 1]."""
    scope: NDArray[np.int64]
    """The variables of the scopes."""
    edge: NDArray[np.int64]
    """For a factor of two variables the edge that starts at this one, −1 for a wide one."""
    wide: NDArray[np.int64]
    """Which wide factor it is, −1 for one of two variables, [H]."""


class Neighbours(NamedTuple):
    """The variables that share a factor with each, once each and in order."""

    offsets: NDArray[np.int64]
    """Those of variable i are ``variable[offsets[i]:offsets[i + 1]]``, [N + 1]."""
    variable: NDArray[np.int64]


class Costs(NamedTuple):
    """A problem compiled for local search; costs are int32, in tables of two variables int16, or all int64."""

    rows: Rows
    edges: Edges
    wide: Wide
    hard: Hard
    neighbours: Neighbours


class State(NamedTuple):
    """Where a search stands."""

    x: NDArray[np.int64]
    """The assignment, [N]."""
    local: NDArray[Any]
    """L, [R]."""
    position: NDArray[np.int64]
    """Σ stride · value of each wide factor, [K]."""
    weights: NDArray[Any]
    """w of each factor that forbids anything, [H]."""
    violated: NDArray[np.int64]
    """The factors (by place in `weights`) that forbid x, in the first `VIOLATIONS` places, [H]."""
    place: NDArray[np.int64]
    """Where in `violated` each factor is, −1 if nowhere, [H]."""
    best: NDArray[np.int64]
    """The best feasible assignment, [N]; behind by the journal's moves while x is it."""
    journal: NDArray[np.int64]
    """Variables that moved since `best` and x were equal; as long as it overflows, all did, [N]."""
    tally: NDArray[np.int64]
    """Numbers that go with the assignment, see `SOFT`."""
    random: NDArray[np.uint64]
    """The state of the random stream, [1]."""
