"""Rounds of the distributed local searches DSA and MGM: all variables choose at once, then all move."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.moves import move, remember
from dabp.kernels.local_search.random_stream import draw, uniform
from dabp.kernels.local_search.search_arrays import LANES, NOTHING, ROW, Costs, Ints, State
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


@inlined
def wins(c: Costs, gain: NDArray[Any], i: int, partner: int) -> Any:
    """Whether i gains more than every neighbour but its partner (−1: none); of equals, the first in order does."""
    ahead = gain[i] > 0
    for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
        j = c.neighbours.variable[q]
        if j != partner:
            ahead = ahead and (gain[i] > gain[j] or (gain[i] == gain[j] and i < j))
    return ahead


@inlined
def cost_of_round(s: State) -> Any:
    """The cost after a round, `NOTHING` if it is not feasible; the assignment is remembered if it is the best."""
    remember(s, s.x)
    return np.int64(NOTHING) if s.tally[()].violations > 0 else s.tally[()].soft


@local_kernel
def dsa(c: Costs, s: State, chosen: Ints, floor: Ints, lowest: Ints, probability: float) -> int:
    """Up to ``len(lowest)`` rounds in which variables that can improve do so by chance.

    A variable may also change at equal cost if its local cost is above its `floor`. Returns the number of rounds,
    negative if no variable could change in the last one, which is then the end.
    """
    for t in range(len(lowest)):
        active = 0
        for i in range(len(s.x)):
            value, change = _best_value(c, s, i)
            conflict = np.int64(s.local[c.rows.start[i] + s.x[i]]) > floor[i]
            willing = change < 0 or (value != s.x[i] and conflict)
            active += willing
            chosen[i] = value if willing and uniform(s.random) < probability else s.x[i]
        for i in range(len(s.x)):
            if chosen[i] != s.x[i]:
                move(c, s, i, chosen[i])
        lowest[t] = cost_of_round(s)
        if active == 0:
            return -t - 1
    return len(lowest)


@local_kernel
def mgm(c: Costs, s: State, chosen: Ints, gain: Ints, lowest: Ints) -> int:
    """Up to ``len(lowest)`` rounds in which variables that gain more than every neighbour change.

    Returns the number of rounds, negative if no variable changed in the last one, which is then the end.
    """
    for t in range(len(lowest)):
        moved = 0
        for i in range(len(s.x)):
            chosen[i], change = _best_value(c, s, i)
            gain[i] = -np.int64(change)
        for i in range(len(s.x)):
            if wins(c, gain, i, -1):
                move(c, s, i, chosen[i])
                moved += 1
        lowest[t] = cost_of_round(s)
        if moved == 0:
            return -t - 1
    return len(lowest)
