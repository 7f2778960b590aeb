"""Compiled arithmetic on cost tables of any arity: adding one to another over a larger scope."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel

Array = Any
Ints = NDArray[np.int64]


@inner
def _longest(offsets: Array) -> int:
    """The length of the longest piece, at least 1: a scope may name any number of variables with one value."""
    longest = 1
    for piece in range(len(offsets) - 1):
        longest = max(longest, offsets[piece + 1] - offsets[piece])
    return int(longest)


class Additions(NamedTuple):
    """Jobs that each add a source table to a target table, which looks at more variables."""

    source_start: Ints
    """[jobs]: the source's first cell."""
    target_start: Ints
    """[jobs]: the target's first cell."""
    axis_start: Ints
    """[jobs + 1]: the target of job j has axes ``axis_start[j]`` to ``axis_start[j + 1]``."""
    dims: Ints
    """Values along each axis."""
    strides: Ints
    """Cells of the source that a step along each axis moves, 0 where the source does not look at the variable."""


class Cuts(NamedTuple):
    """Jobs that each copy the cells of a table that only hold kept values."""

    table_start: Ints
    """[jobs]: the table's first cell."""
    out_start: Ints
    """[jobs + 1]: where its copy starts."""
    axis_start: Ints
    """[jobs + 1]: job j has axes ``axis_start[j]`` to ``axis_start[j + 1]``."""
    strides: Ints
    """Cells that a step along each axis moves."""
    variable: Ints
    """The variable of each axis."""
    kept_values: Ints
    """Those of variable v, at least one, are ``kept_values[kept_start[v]:kept_start[v + 1]]``."""
    kept_start: Ints


@kernel
def add_tables(pool: Array, jobs: Additions, target: Array) -> None:
    """Add every job's source table, in `pool`, to its target table, in `target`."""
    source_start, target_start, axis_start = jobs.source_start, jobs.target_start, jobs.axis_start
    dims, strides = jobs.dims, jobs.strides
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
def restrict_tables(pool: Array, jobs: Cuts, out: Array) -> None:
    """Copy every job's kept cells from `pool` to `out`, in order."""
    table_start, out_start, axis_start, strides = jobs.table_start, jobs.out_start, jobs.axis_start, jobs.strides
    entry_variable, kept_values, kept_start = jobs.variable, jobs.kept_values, jobs.kept_start
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
