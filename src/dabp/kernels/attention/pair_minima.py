# mypy: disable-error-code="untyped-decorator"
"""Factor→variable messages of factors on two variables, in vectors, and whose values made each minimum (paper Eq. 3).

A range of factors, copies counted, is a thread's share: the edges of factor n are 2n and 2n + 1.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.attention.dense import BLOCK, LANES, Floats, whole_blocks
from dabp.kernels.decorators import kernel, part
from dabp.kernels.simd import as_int32, full_like, load, minimum, rounded_product, splat, store, where_less

Winners = NDArray[np.int32]


class PairTables(NamedTuple):
    """The costs of a group of factors of one shape."""

    rows: int
    columns: int
    cells: Floats  # each different table once, one after the other, and a vector's length behind them
    turned: Floats  # the same with rows and columns exchanged: minima over either variable are then taken lane by lane
    table_index: NDArray[np.int64]  # [G]: which of them each factor has
    scales: Floats  # [C]: what each copy multiplies it with


class Scratch(NamedTuple):
    """A message under way, whole vectors."""

    lowest: Floats
    made_by: Winners  # the other variable's value of each minimum
    numbers: Floats  # 0, 1, 2, …


def pair_tables(tables: Floats, table_index: NDArray[np.int64], scales: Floats) -> PairTables:
    """From tables [U, rows, columns]."""
    end = np.zeros(BLOCK, dtype=tables.dtype)
    cells, turned = (np.concatenate([one.ravel(), end]) for one in (tables, tables.transpose(0, 2, 1)))
    return PairTables(tables.shape[1], tables.shape[2], cells, turned, table_index, scales)


@part(_nrt=False)
def _minima(
    rows: int, columns: int, cells: Floats, table: int, scale: Any, v2f: Floats, start: int, scratch: Scratch
) -> None:
    """Write minima over the rows of table + message, which begins at ``v2f[start]``, and the row of each.

    Two vectors take turns, as each depends on its minimum of the row before; a single vector is done twice.
    """
    far = full_like(np.inf, scale)
    for x in range(0, columns, 2 * BLOCK):
        y = x + BLOCK if x + BLOCK < columns else x
        low_x = low_y = far
        row_x = row_y = full_like(0.0, scale)
        for a in range(rows):
            here, number = splat(v2f, start + a, LANES), splat(scratch.numbers, a, LANES)
            at_x = rounded_product(scale, load(cells, table + a * columns + x, LANES)) + here
            at_y = rounded_product(scale, load(cells, table + a * columns + y, LANES)) + here
            row_x, row_y = where_less(at_x, low_x, number, row_x), where_less(at_y, low_y, number, row_y)
            low_x, low_y = minimum(at_x, low_x), minimum(at_y, low_y)
        store(scratch.lowest, x, low_x)
        store(scratch.lowest, y, low_y)
        store(scratch.made_by, x, as_int32(row_x))
        store(scratch.made_by, y, as_int32(row_y))


@part(_nrt=False)
def _write(columns: int, scratch: Scratch, f2v: Floats, winners: Winners, edge: int) -> None:
    """Copy a message; its last vector ends with the message and overlaps the vector before."""
    start = edge * f2v.shape[1]
    if columns < BLOCK:
        for b in range(columns):
            f2v[edge, b] = scratch.lowest[b]
            winners[edge, b] = scratch.made_by[b]
    for x in range(0, columns if columns >= BLOCK else 0, BLOCK):
        begin = min(x, columns - BLOCK)
        store(f2v, start + begin, load(scratch.lowest, begin, LANES))
        store(winners, start + begin, load(scratch.made_by, begin, LANES))


@kernel
def pair_messages(first: int, last: int, costs: PairTables, v2f: Floats, f2v: Floats, winners: Winners) -> None:
    """Write the messages, [edges, D], and the other variable's value of each, the first of equals."""
    rows, columns, cells, turned, table_index, scales = costs
    copies, wide, width = len(scales), whole_blocks(max(rows, columns)), v2f.shape[1]
    scratch = Scratch(np.empty(wide, v2f.dtype), np.empty(wide, np.int32), np.arange(wide).astype(v2f.dtype))
    for factor in range(first, last):
        table, scale = table_index[factor // copies] * rows * columns, splat(scales, factor % copies, LANES)
        one, two = 2 * factor, 2 * factor + 1
        _minima(columns, rows, turned, table, scale, v2f, two * width, scratch)
        _write(rows, scratch, f2v, winners, one)
        _minima(rows, columns, cells, table, scale, v2f, one * width, scratch)
        _write(columns, scratch, f2v, winners, two)


@kernel
def pair_gradients(first: int, last: int, costs: PairTables, winners: Winners, gradient: Floats, made: Floats) -> None:
    """Write the gradient of v2f: that of each message goes to the other variable's value that made it."""
    for factor in range(first, last):
        one, two = 2 * factor, 2 * factor + 1
        made[one] = made[two] = made.dtype.type(0.0)
        for a in range(costs.rows):
            made[two, winners[one, a]] += gradient[one, a]
        for b in range(costs.columns):
            made[one, winners[two, b]] += gradient[two, b]
