"""Compiled copying of tables of two variables, each one way round, to where passes of the dual read them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@array_kernel
def copy_tables(pool: Floats, begin: Ints, ends: Ints, lanes: int, padded: Floats) -> None:
    """Copy some tables, each with its first variable (even entries of `ends`) or its second (odd ones) in the lanes.

    Parameters
    ----------
    pool, begin
        All tables, and where each of T begins.
    ends
        Table t with its first variable in the lanes is 2t, with its second 2t + 1, [n].
    lanes
        How many values that variable has; entries beyond repeat the last.
    padded
        Gets the tables, [n, values of the other variable, width].
    """
    others, width = padded.shape[1], padded.shape[2]
    for k in range(len(ends)):
        first = begin[ends[k] >> 1]
        down, across = (1, others) if ends[k] & 1 == 0 else (lanes, 1)
        for row in range(others):
            for lane in range(lanes):
                padded[k, row, lane] = pool[first + row * down + lane * across]
            for lane in range(lanes, width):
                padded[k, row, lane] = padded[k, row, lanes - 1]
