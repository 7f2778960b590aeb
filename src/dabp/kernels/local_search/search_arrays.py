"""The arrays of local search: a problem compiled for it (`Costs`) and the state of one search (`State`).

Rows of local costs are padded to a multiple of `LANES`. A factor of two variables is two edges, one from each of its
variables, with tables padded to whole rows; larger factors are read from their tables by strides. Finite costs ("soft")
and forbidden combinations ("hard", 1 where forbidden, else 0) have separate tables.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.simd import lanes_of

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Noise = NDArray[np.float32]

Record = Any
"""A structured array, whose fields kernels read by name; the annotation of `numpy.ndarray` has no fields."""

LANES = 8
"""Values that a kernel handles at a time."""

ROW = lanes_of(LANES)
"""The same as the argument of `simd.load`."""

NOTHING = int(np.iinfo(np.int64).max)
"""The cost of an iteration without a feasible assignment, in units."""

TALLY = np.dtype(
    [
        ("soft", np.int64),  # the finite cost of the assignment
        ("weighted", np.int64),  # that and the weights of the violated factors
        ("violations", np.int64),  # how many factors forbid the assignment
        ("best", np.int64),  # the least feasible cost
        ("feasible", np.int64),  # 1 if there is a feasible assignment, else 0
        ("journal", np.int64),  # entries of the journal
        ("level", np.int64),  # the least weighted cost since the last restart or change of weights
    ],
    align=True,
)
"""The numbers of `State.tally` and `Flips.tally`; costs are in units."""


class Rows(NamedTuple):
    """Where each variable's values lie; N variables, R = sum of the widths."""

    size: Ints  # domain sizes, [N]
    start: Ints  # where variable i's row of L begins, [N]
    width: Ints  # padded row lengths, [N]
    unary: NDArray[Any]  # a variable's own costs; `pad` where padded or forbidden, [R]
    pad: int  # larger than any difference of local costs
    heaviest: int  # the limit of the weights, by which local costs stay below `pad`
    uniform: int  # the width of all rows, 0 if they differ


class Edges(NamedTuple):
    """Factors of two variables, one edge from each variable; E edges."""

    offsets: Ints  # the edges from variable i are ``offsets[i]:offsets[i + 1]``, [N + 1]
    target: Ints  # the other variable, [E]
    soft_at: Ints  # where in `soft` the rows of the target begin, one for each value of i; −1 if all are 0, [E]
    hard_at: Ints  # where in `hard` the forbidden combinations begin, likewise; −1 if there are none, [E]
    weight: Ints  # the factor's place in `State.weights`, −1 if it forbids nothing, [E]
    soft: NDArray[Any]  # finite costs, padded with 0
    hard: NDArray[Any]  # 1 where forbidden, padded with 0


class Wide(NamedTuple):
    """Factors of three or more variables; K factors."""

    offsets: Ints  # those of variable i are ``offsets[i]:offsets[i + 1]`` of `factor` and `stride`, [N + 1]
    factor: Ints
    stride: Ints  # cells between two values of i in the factor's table
    scope_offsets: Ints  # where each factor's scope begins in the next two, [K + 1]
    scope_variable: Ints
    scope_stride: Ints  # cells between two values of each variable
    soft_at: Ints  # where in `soft` the factor's finite costs begin, −1 if all are 0, [K]
    hard_at: Ints  # where in `hard` its forbidden combinations begin, −1 if there are none, [K]
    weight: Ints  # the factor's place in `State.weights`, [K]
    soft: NDArray[Any]  # finite costs
    hard: NDArray[Any]  # 1 where forbidden


class Hard(NamedTuple):
    """Factors of two or more variables that forbid something, in the order of `State.weights`; H factors."""

    offsets: Ints  # where each one's scope begins in `scope`, [H + 1]
    scope: Ints  # the variables of the scopes
    wide: Ints  # which wide factor it is, −1 for a factor of two variables, [H]


class Neighbours(NamedTuple):
    """The variables that share a factor with each, once each and in order."""

    offsets: Ints  # those of variable i are ``variable[offsets[i]:offsets[i + 1]]``, [N + 1]
    variable: Ints


class Costs(NamedTuple):
    """A problem compiled for local search; costs are int32, in tables of two variables int16, or all int64."""

    rows: Rows
    edges: Edges
    wide: Wide
    hard: Hard
    neighbours: Neighbours


class State(NamedTuple):
    """The state of one search."""

    x: Ints  # the assignment, [N]
    local: NDArray[Any]  # L, [R]
    position: Ints  # Σ stride · value of each wide factor, [K]
    weights: NDArray[Any]  # w of each factor that forbids anything, [H]
    violated: Ints  # the factors (places in `weights`) that forbid x, the first `violations` of [H]
    place: Ints  # where in `violated` each factor is, −1 if nowhere, [H]
    best: Ints  # the best feasible assignment, without the journal's moves while x is the best, [N]
    journal: Ints  # variables that moved since `best` equalled x; when full, any may have moved, [N]
    tally: Record  # `TALLY`, []
    random: NDArray[np.uint64]  # the state of the random stream, [1]
