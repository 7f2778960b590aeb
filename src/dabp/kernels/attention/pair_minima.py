# mypy: disable-error-code="untyped-decorator"
"""Factor→variable messages of factors on two variables, in vectors, and whose values made each minimum (paper Eq. 3).

A range of factors, copies counted, is a thread's share: the edges of factor n are 2n and 2n + 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.one_variable import BLOCK, LANES, whole_blocks
from dabp.kernels.decorators import kernel
from dabp.kernels.rows import copy_row
from dabp.kernels.simd import full_like, least, load, minimum, splat, store, where_negative

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]
Winners = NDArray[np.int32]


class PairTables(NamedTuple):
    """The costs of a group of factors of one shape."""

    rows: int
    columns: int
    cells: Floats
    """Each different table once, one after the other, and a vector's room behind them."""
    table_index: Integers
    """[G]: which of them each factor has."""
    scales: Floats
    """[C]: what each copy multiplies it with."""


def pair_tables(tables: Floats, table_index: Integers, scales: Floats) -> PairTables:
    """From tables [U, rows, columns]."""
    cells = np.concatenate([tables.ravel(), np.zeros(BLOCK, dtype=tables.dtype)])
    return PairTables(tables.shape[1], tables.shape[2], cells, table_index, scales)


@kernel
def pair_messages(first: int, last: int, costs: PairTables, v2f: Floats, f2v: Floats, winners: Winners) -> None:
    """Write the messages, [edges, D], and the other variable's value of each, the first of equals."""
    rows, columns, cells, table_index, scales = costs
    copies, wide, kind = len(scales), whole_blocks(columns), v2f.dtype.type
    heard, lowest, places = np.empty(wide, v2f.dtype), np.empty(wide, v2f.dtype), np.empty(wide, v2f.dtype)
    numbers = np.arange(max(rows, wide)).astype(v2f.dtype)
    far = kind(np.finfo(v2f.dtype).max)
    heard[columns:] = far
    for factor in range(first, last):
        table, scale = table_index[factor // copies] * rows * columns, splat(scales, factor % copies, LANES)
        edge = 2 * factor
        copy_row(v2f[edge + 1], columns, heard, 0)
        top = full_like(far, scale)
        for x in range(0, wide, BLOCK):
            store(lowest, x, top)
            store(places, x, full_like(0.0, scale))
        for a in range(rows):
            ours, here = splat(v2f, edge * v2f.shape[1] + a, LANES), splat(numbers, a, LANES)
            low, place = top, full_like(0.0, scale)
            for x in range(0, wide, BLOCK):
                cost = scale * load(cells, table + a * columns + x, LANES)
                down, before = cost + ours, load(lowest, x, LANES)
                store(places, x, where_negative(down - before, here, load(places, x, LANES)))
                store(lowest, x, minimum(down, before))
                across = cost + load(heard, x, LANES)
                place = where_negative(across - low, load(numbers, x, LANES), place)
                low = minimum(across, low)
            value = least(low)
            f2v[edge, a] = value
            best = least(where_negative(full_like(value, low) - low, top, place))
            winners[edge, a] = np.int32(min(best, numbers[columns - 1]))  # what is not finite may win beyond the end
        for b in range(columns):
            f2v[edge + 1, b] = lowest[b]
            winners[edge + 1, b] = np.int32(places[b])


@kernel
def pair_gradients(first: int, last: int, costs: PairTables, winners: Winners, gradient: Floats, made: Floats) -> None:
    """Add each message's gradient to the other variable's value that made it."""
    for factor in range(first, last):
        one, two = 2 * factor, 2 * factor + 1
        for a in range(costs.rows):
            made[two, winners[one, a]] += gradient[one, a]
        for b in range(costs.columns):
            made[one, winners[two, b]] += gradient[two, b]
