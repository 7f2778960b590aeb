"""Compiled grouping of entries by the variable that each belongs to: a counting sort."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel

Ints = NDArray[np.int64]


@array_kernel
def group_by_variable(variable: Ints, start: Ints, entry: Ints) -> None:
    """Fill `entry` with the entries of each variable, in order; `start` [N + 1] comes in as zeros."""
    for e in range(len(variable)):
        start[variable[e] + 1] += 1
    for i in range(len(start) - 1):
        start[i + 1] += start[i]
    for e in range(len(variable)):
        entry[start[variable[e]]] = e
        start[variable[e]] += 1
    for i in range(len(start) - 1, 0, -1):
        start[i] = start[i - 1]
    start[0] = 0
