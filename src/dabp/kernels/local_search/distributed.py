"""Rounds of the distributed local searches DSA and MGM: all variables choose at once, then all move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.moves import move, remember
from dabp.kernels.local_search.random_stream import draw, uniform
from dabp.kernels.local_search.search_arrays import LANES, NOTHING, ROW, SOFT, VIOLATIONS, Costs, State
from dabp.kernels.simd import least, load, next_equal


@inlined
def _best_value(c: Costs, s: State, i: int) -> tuple[int, Any]:
    """The value of least local cost, by chance one of several other than the present, and the change of cost."""
    row = c.rows.start[i]
    lowest = least(load(s.local, row, ROW))
    for k in range(LANES, c.rows.width[i], LANES):
        lowest = min(lowest, least(load(s.local, row + k, ROW)))
    rows = c.rows.width[i] // LANES
    random = draw(s.random)
    first, lane = np.int64(random >> np.uint64(40)) % rows, np.int64(random) & (LANES - 1)
    value = s.x[i]
    for r in range(rows):
        start = ((first + r) % rows) * LANES
        found = next_equal(load(s.local, row + start, ROW), lowest, lane)
        if found >= 0 and start + found == s.x[i]:  # look on, for another as good
            found = next_equal(load(s.local, row + start, ROW), lowest, (found + 1) & (LANES - 1))
        if found >= 0 and start + found != s.x[i]:
            value = start + found
            break
    return value, lowest - s.local[row + s.x[i]]


@local_kernel
def dsa(
    c: Costs,
    s: State,
    chosen: NDArray[np.int64],
    floor: NDArray[np.int64],
    lowest: NDArray[np.int64],
    probability: float,
    sideways: int,
) -> int:
    """Up to ``len(lowest)`` rounds in which who can improve does so by chance; how many, negative if nobody wants to.

    `sideways` says who may change at equal cost: nobody (0), those whose local cost is above `floor` (1), all (2).
    """
    for t in range(len(lowest)):
        active = 0
        for i in range(len(s.x)):
            value, change = _best_value(c, s, i)
            conflict = np.int64(s.local[c.rows.start[i] + s.x[i]]) > floor[i]
            willing = change < 0 or (value != s.x[i] and (sideways == 2 or (sideways == 1 and conflict)))
            active += willing
            chosen[i] = value if willing and uniform(s.random) < probability else s.x[i]
        for i in range(len(s.x)):
            if chosen[i] != s.x[i]:
                move(c, s, i, chosen[i])
        remember(s)
        lowest[t] = NOTHING if s.tally[VIOLATIONS] > 0 else s.tally[SOFT]
        if active == 0:
            return -t - 1
    return len(lowest)


@local_kernel
def mgm(c: Costs, s: State, chosen: NDArray[np.int64], gain: NDArray[np.int64], lowest: NDArray[np.int64]) -> int:
    """Up to ``len(lowest)`` rounds in which who gains more than every neighbour changes; how many, negative if over.

    Ties go to the variable that comes first.
    """
    for t in range(len(lowest)):
        moved = 0
        for i in range(len(s.x)):
            value, change = _best_value(c, s, i)
            chosen[i] = value
            gain[i] = -np.int64(change)
        for i in range(len(s.x)):
            wins = gain[i] > 0
            for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
                j = c.neighbours.variable[q]
                wins = wins and (gain[i] > gain[j] or (gain[i] == gain[j] and i < j))
            if wins:
                move(c, s, i, chosen[i])
                moved += 1
        remember(s)
        lowest[t] = NOTHING if s.tally[VIOLATIONS] > 0 else s.tally[SOFT]
        if moved == 0:
            return -t - 1
    return len(lowest)
