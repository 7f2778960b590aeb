"""Compiled arithmetic on cost tables of any arity: adding one to another over a larger scope."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.decorators import kernel

Array = Any


@kernel
def _longest(offsets: Array) -> int:
    """The length of the longest piece, at least 1: a scope may name any number of variables with one value."""
    longest = 1
    for piece in range(len(offsets) - 1):
        longest = max(longest, offsets[piece + 1] - offsets[piece])
    return int(longest)


@kernel
def add_tables(
    pool: Array, source_start: Array, strides: Array, dims: Array, axis_start: Array, target: Array, target_start: Array
) -> None:
    """For each job j add the source table to the target table, which looks at more variables.

    Axis k of job j's target has ``dims[axis_start[j] + k]`` values, and one step along it moves
    ``strides[axis_start[j] + k]`` cells in the source (0 where the source does not look at the variable).
    """
    digit = np.zeros(_longest(axis_start), dtype=np.int64)
    for job in range(len(source_start)):
        first, arity = axis_start[job], axis_start[job + 1] - axis_start[job]
        digit[:arity] = 0
        place, cell = source_start[job], target_start[job]
        while True:
            target[cell] += pool[place]
            cell += 1
            axis = arity - 1
            while axis >= 0:
                digit[axis] += 1
                place += strides[first + axis]
                if digit[axis] < dims[first + axis]:
                    break
                place -= strides[first + axis] * digit[axis]
                digit[axis] = 0
                axis -= 1
            if axis < 0:
                break


@kernel
def table_summaries(pool: Array, offsets: Array, lowest: Array, highest: Array) -> None:
    """The least and the largest cost of every table (inf included); an empty table gives inf and −inf."""
    for table in range(len(offsets) - 1):
        low, high = np.inf, -np.inf
        for cell in range(offsets[table], offsets[table + 1]):
            low = min(low, pool[cell])
            high = max(high, pool[cell])
        lowest[table] = low
        highest[table] = high


@kernel
def restrict_tables(
    pool: Array,
    table_start: Array,
    strides: Array,
    entry_variable: Array,
    axis_start: Array,
    kept_values: Array,
    kept_start: Array,
    out: Array,
    out_start: Array,
) -> None:
    """For each job j copy the cells of a table that only hold kept values, in order.

    Axis k of job j belongs to variable ``v = entry_variable[axis_start[j] + k]``, whose kept values are
    ``kept_values[kept_start[v]:kept_start[v + 1]]`` (at least one).
    """
    digit = np.zeros(_longest(axis_start), dtype=np.int64)
    for job in range(len(table_start)):
        first, arity = axis_start[job], axis_start[job + 1] - axis_start[job]
        digit[:arity] = 0
        for cell in range(out_start[job], out_start[job + 1]):
            place = table_start[job]
            for axis in range(arity):
                place += strides[first + axis] * kept_values[kept_start[entry_variable[first + axis]] + digit[axis]]
            out[cell] = pool[place]
            for axis in range(arity - 1, -1, -1):
                digit[axis] += 1
                variable = entry_variable[first + axis]
                if digit[axis] < kept_start[variable + 1] - kept_start[variable]:
                    break
                digit[axis] = 0
