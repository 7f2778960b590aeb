"""The arrays that the kernels of the cost model share."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]


class Structure(NamedTuple):
    """A problem: pairwise tables by variable, wider factors apart.

    "Penalised" costs have a finite stand-in for forbidden, above any finite total; an "amount" is a cost in the model's
    units. Variable v's neighbours are entries ``begin[v]:begin[v + 1]`` of the `neighbour…` arrays (each pairwise
    constraint is there twice); the cost of value a of v with value b of the neighbour is at
    ``neighbour_base + a * neighbour_own + b * neighbour_other`` of `penalised`, `amount` and `level`.
    """

    sizes: NDArray[np.int64]
    """Domain sizes, [N]."""
    first_value: NDArray[np.int64]
    """Where a variable's values begin in arrays over all values, [N + 1]."""
    begin: NDArray[np.int64]
    """Where a variable's neighbours begin, [N + 1]."""
    neighbour: NDArray[np.int64]
    """The other variable."""
    neighbour_base: NDArray[np.int64]
    """Where the constraint's table begins."""
    neighbour_own: NDArray[np.int64]
    """Cells that a step of v's value moves."""
    neighbour_other: NDArray[np.int64]
    """Cells that a step of the neighbour's value moves."""
    penalised: NDArray[np.float64]
    """Costs of all pairs of values."""
    amount: Array
    """The same in the model's units."""
    level: NDArray[np.int32]
    """Which of `level_amount` comes nearest."""
    level_amount: Array
    """The different costs that the model tells apart, in its units."""
    unary_penalised: NDArray[np.float64]
    """Costs of unary factors, by value."""
    unary_amount: Array
    """The same in the model's units."""
    has_unary: NDArray[np.bool_]
    """Whether a variable has any, [N]."""
    wide_begin: NDArray[np.int64]
    """Variable v is in the wider factors ``wide_factor[wide_begin[v]:wide_begin[v + 1]]``, [N + 1]."""
    wide_factor: NDArray[np.int64]
    """Which of the wider factors."""
    wide_base: NDArray[np.int64]
    """By wider factor: its place in `wide_penalised`."""
    wide_scope_begin: NDArray[np.int64]
    """By wider factor: where its scope begins in the next two."""
    wide_variable: NDArray[np.int64]
    """The variables of the scopes."""
    wide_stride: NDArray[np.int64]
    """Cells that a step of each one's value moves."""
    wide_penalised: NDArray[np.float64]
    """Costs of the wider factors."""
    wide_amount: Array
    """The same in the model's units."""


class Cycle(NamedTuple):
    """Where a cycle of the search stands; the last four are kept for destroyed variables only."""

    values: NDArray[np.int64]
    """The assignment, [N]."""
    position: NDArray[np.int64]
    """The place in the order of repair, −1 for those that were not destroyed, [N]."""
    penalised: NDArray[np.float64]
    """Costs by value with everything assigned, [values]."""
    amount: Array
    """The same in the model's units, [values]."""
    assigned: NDArray[np.bool_]
    """Whether there is anything assigned, [N]."""


class Parameters(NamedTuple):
    """What predicting the values of a target needs; 64 = 8 heads × 8 channels, matrices as [in, out].

    `source_i` and `target_i` are the attention vectors of layer i, applied to what the layer's matrix gives; those
    of the last layer are multiplied by its matrix beforehand and apply to its inputs.
    """

    value_1: Array
    """W x of a value node in the first layer, [64]."""
    cost_1: Array
    """W x of a cost node of cost 0, [64]; a cost c adds c times `amount_1`."""
    amount_1: Array
    source_1: Array
    target_1: Array
    bias_1: Array
    matrix_2: Array
    source_2: Array
    target_2: Array
    bias_2: Array
    matrix_3: Array
    source_3: Array
    target_3: Array
    bias_3: Array
    matrix_4: Array
    """[4 heads, 64, 16]."""
    source_4: Array
    """[4 heads, 64]."""
    target_4: Array
    bias_4: Array
    transform: Array
    """Of the value node's embedding, [16, 16]."""
    out: Array
    """[16]: the value node's half; the constraints' half adds the same to all values."""


class LevelTables(NamedTuple):
    """What the model makes of a pair of each different cost."""

    amount: Array
    """The costs, in the model's units, [levels]."""
    score_1: Array
    """What a pair of this cost scores in a value's first attention, [levels, 8]."""
    projected_2: Array
    """A pair's input to the second layer, [levels, 64]."""
    from_2: Array
    """Its scores there as a source, [levels, 8]."""
    to_2: Array
    """Its scores there as a target, [levels, 8]."""


class Embedding(NamedTuple):
    """A value after two layers, or with one axis more several values."""

    projected: Array
    """Its inputs to the second and third layer, [2, 64]."""
    scores: Array
    """Their scores as sources (rows 0 and 2) and targets (rows 1 and 3), [4, 8]."""
    unary: Array
    """The embedding of its unary cost after one and after two layers, [2, 64]; used by the target only."""


class Pairs(NamedTuple):
    """Scratch for the pairs of one value of the target with the values below."""

    everyone: NDArray[np.int64]
    """0, 1, …, [pairs]."""
    projected: Array
    """Inputs to the third layer, [pairs, 64]."""
    scores: Array
    """Their scores as sources, [pairs, 8]."""
    embedding: Array
    """After the third layer, [pairs, 64]."""
    last: Array
    """Their scores as sources in the last layer, [pairs, 4]."""
    score: Array
    """By head, [pairs]."""
