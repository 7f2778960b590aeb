"""The linear assignment problem by shortest augmenting paths, in integers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner

Ints = NDArray[np.int64]

FAR = 2**62
"""Longer than any path."""


class Room(NamedTuple):
    """Room for problems of up to n rows; column n is the root of the search for a path."""

    costs: Ints  # W, reduced by `assign`, [n, n]
    row_price: Ints  # [n + 1]
    column_price: Ints  # [n + 1]
    distance: Ints  # [n + 1]
    before: Ints  # the column before each on the path, [n + 1]
    reached: NDArray[np.bool_]  # [n + 1]
    row_of: Ints  # the row assigned to each column, −1 for none, [n + 1]


def room_for(size: int) -> Room:
    """Room for problems of up to `size` rows."""
    line = np.zeros((5, size + 1), dtype=np.int64)
    return Room(
        costs=np.zeros((size, size), dtype=np.int64),
        row_price=line[0],
        column_price=line[1],
        distance=line[2],
        before=line[3],
        reached=np.zeros(size + 1, dtype=np.bool_),
        row_of=line[4],
    )


@array_inner
def assign(room: Room, size: int) -> Any:
    """The least total of ``costs[:size, :size]`` over one cell in each row and column, the costs then reduced by it.

    The reduced costs are at least 0, and 0 in the cells of the assignment `row_of`. Reference: R. Jonker,
    A. Volgenant, *A shortest augmenting path algorithm for dense and sparse linear assignment problems*, 1987.
    """
    w, u, v, row_of = room.costs, room.row_price, room.column_price, room.row_of
    for j in range(size + 1):
        row_of[j], v[j] = -1, FAR
    v[size] = 0
    for i in range(size):
        least = w[i, 0]
        for j in range(1, size):
            least = min(least, w[i, j])
        u[i] = least
        for j in range(size):
            v[j] = min(v[j], w[i, j] - least)
    for i in range(size):
        taken = False
        for j in range(size):
            if row_of[j] < 0 and w[i, j] == u[i] + v[j]:
                row_of[j], taken = i, True
                break
        if not taken:
            _augment(room, size, i)
    total = np.int64(0)
    for i in range(size):
        total += u[i] + v[i]
        for j in range(size):
            w[i, j] -= u[i] + v[j]
    return total


@array_inner
def _augment(room: Room, size: int, first: int) -> None:
    """Assign one more row along a shortest path of reduced costs."""
    w, u, v, row_of = room.costs, room.row_price, room.column_price, room.row_of
    for j in range(size + 1):
        room.distance[j], room.reached[j], room.before[j] = FAR, False, size
    row_of[size], column = first, np.int64(size)
    while row_of[column] >= 0:
        room.reached[column] = True
        i, step, nearest = row_of[column], np.int64(FAR), column
        for j in range(size):
            if not room.reached[j]:
                length = w[i, j] - u[i] - v[j]
                if length < room.distance[j]:
                    room.distance[j], room.before[j] = length, column
                if room.distance[j] < step:
                    step, nearest = room.distance[j], np.int64(j)
        for j in range(size + 1):
            if room.reached[j]:
                u[row_of[j]] += step
                v[j] -= step
            else:
                room.distance[j] -= step
        column = nearest
    while column != size:
        row_of[column] = row_of[room.before[column]]
        column = room.before[column]
    row_of[size] = -1
