# mypy: disable-error-code="untyped-decorator"
"""Compiled sorting of entries and factors by variable, in linear time, and levels of variables."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel

Array = Any
Ints = NDArray[np.int64]


@array_kernel
def group_by_variable(variable: Ints, start: Ints, entry: Ints) -> None:
    """Fill `entry` with the entries of each variable, in order; `start` [N + 1] is zero before."""
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


@array_kernel
def fill_places(scopes: Array, behind: Array, ahead: Array, place: Array, columns: Array) -> None:
    """Give each binary factor its two places (`dabp.graph.places`).

    Parameters
    ----------
    scopes
        The factors' variables, [F, 2].
    behind, ahead
        The next free place of each variable for a neighbour with a smaller or a larger number, [N]; advanced.
    place
        Filled with the places of each factor, [F, 2].
    columns
        Filled with the variable of each place, the factor's other variable and its other place, [3, 2F].
    """
    for f in range(len(scopes)):
        i, j = scopes[f, 0], scopes[f, 1]
        if j < i:
            p, q = behind[i], ahead[j]
            behind[i] += 1
            ahead[j] += 1
        else:
            p, q = ahead[i], behind[j]
            ahead[i] += 1
            behind[j] += 1
        place[f, 0], place[f, 1] = p, q
        columns[0, p], columns[1, p], columns[2, p] = i, j, q
        columns[0, q], columns[1, q], columns[2, q] = j, i, p


@array_kernel
def fill_levels(start: Array, behind: Array, level: Array) -> None:
    """The level of each variable: one more than the highest of its neighbours with smaller numbers, 0 without any.

    The neighbours of variable i with smaller numbers are ``behind[start[i]:start[i + 1]]``.
    """
    for i in range(len(level)):
        highest = -1
        for p in range(start[i], start[i + 1]):
            highest = max(highest, level[behind[p]])
        level[i] = highest + 1
