# mypy: disable-error-code="untyped-decorator"
"""Compiled parts of `dabp.graph.places`: sorting factors by variable in linear time, and levels of variables."""

from __future__ import annotations

from typing import Any

from dabp.kernels.decorators import array_kernel

Array = Any


@array_kernel
def fill_places(scopes: Array, behind: Array, ahead: Array, place: Array, columns: Array) -> None:
    """Give each binary factor its two places.

    Parameters
    ----------
    scopes
        The factors' variables, [F, 2].
    behind, ahead
        Where each variable's places begin whose other variable has a smaller or a larger number, [N]; moved on.
    place
        Gets the places of each factor, [F, 2].
    columns
        Gets the variable of each place, the factor's other variable and its other place, [3, 2F].
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
def fill_behind(scopes: Array, place: Array, behind: Array) -> None:
    """The neighbours with smaller numbers of each variable, one variable's after the other's, [F].

    `place` says where each variable's begin, [N], and is moved on.
    """
    for f in range(len(scopes)):
        i, j = scopes[f, 0], scopes[f, 1]
        larger, smaller = (i, j) if j < i else (j, i)
        behind[place[larger]] = smaller
        place[larger] += 1


@array_kernel
def fill_levels(start: Array, behind: Array, level: Array) -> None:
    """The level of each variable: one more than the highest of its neighbours with smaller numbers, 0 without any.

    Those are ``behind[start[i]:start[i + 1]]`` of variable i.
    """
    for i in range(len(level)):
        highest = -1
        for p in range(start[i], start[i + 1]):
            highest = max(highest, level[behind[p]])
        level[i] = highest + 1
