"""Rounds of MGM-2: variables change alone or in pairs, where no neighbour gains more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.moves import move_now, remember_now
from dabp.kernels.local_search.random_stream import below, uniform
from dabp.kernels.local_search.search_arrays import NOTHING, SOFT, VIOLATIONS, Costs, State

UNILATERAL, COORDINATED, EITHER = range(3)
"""Which of a move alone and one in a pair is taken if they gain the same."""

OFFERS, ANSWERS_YES, COMBINATIONS = range(3)
"""Places of `Plans.tally`: offers made, offers accepted, and the combinations of values that were offered."""


class Plans(NamedTuple):
    """What each variable plans in a round; N variables."""

    value: NDArray[np.int64]
    """The value it would take, [N]."""
    gain: NDArray[np.int64]
    """How much the cost falls by its move, or by that of its pair, [N]."""
    asked: NDArray[np.int64]
    """The neighbour it makes an offer to, −1 if it waits for offers, [N]."""
    partner: NDArray[np.int64]
    """The other variable of its pair, −1 if it is alone, [N]."""
    shared: NDArray[np.int64]
    """Room for the costs of two variables' common factors."""
    tally: NDArray[np.int64]
    """Counts of the whole search, see `OFFERS`, [3]."""


@inlined
def _at(c: Costs, s: State, i: int, value: int) -> Any:
    return np.int64(s.local[c.rows.start[i] + value])


@inlined
def _best_alone(c: Costs, s: State, i: int) -> tuple[int, Any]:
    """The first value of least cost, beginning at one by chance, and how much it gains; the present one if none."""
    size = c.rows.size[i]
    first = below(s.random, size)
    value, lowest = s.x[i], _at(c, s, i, s.x[i])
    for k in range(size):
        other = (first + k) % size
        if _at(c, s, i, other) < lowest:
            value, lowest = other, _at(c, s, i, other)
    return value, _at(c, s, i, s.x[i]) - lowest


@inlined
def _add_shared(c: Costs, s: State, i: int, j: int, shared: NDArray[np.int64]) -> None:
    """What the factors with both i and j cost by the values of the two, forbidden combinations by their weights."""
    size = c.rows.size[j]
    for k in range(c.rows.size[i] * size):
        shared[k] = 0
    for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
        if c.edges.target[e] != j:
            continue
        for k in range(c.rows.size[i] * size):
            cell = k // size * c.rows.width[j] + k % size
            if c.edges.soft_at[e] >= 0:
                shared[k] += np.int64(c.edges.soft[c.edges.soft_at[e] + cell])
            if c.edges.hard_at[e] >= 0:
                shared[k] += np.int64(c.edges.hard[c.edges.hard_at[e] + cell]) * s.weights[c.edges.weight[e]]
    for entry in range(c.wide.offsets[i], c.wide.offsets[i + 1]):
        f = c.wide.factor[entry]
        for q in range(c.wide.scope_offsets[f], c.wide.scope_offsets[f + 1]):
            if c.wide.scope_variable[q] != j:
                continue
            first, second = c.wide.stride[entry], c.wide.scope_stride[q]
            start = s.position[f] - s.x[i] * first - s.x[j] * second
            for k in range(c.rows.size[i] * size):
                cell = start + k // size * first + k % size * second
                if c.wide.soft_at[f] >= 0:
                    shared[k] += np.int64(c.wide.soft[c.wide.soft_at[f] + cell])
                if c.wide.hard_at[f] >= 0:
                    shared[k] += np.int64(c.wide.hard[c.wide.hard_at[f] + cell]) * s.weights[c.wide.weight[f]]


@local_kernel
def best_pair(c: Costs, s: State, i: int, j: int, shared: NDArray[np.int64]) -> tuple[int, int, Any]:
    """The values of i and j that lower the cost most if both change, the first of several, and by how much.

    By i → a and j → b the cost changes by

        L[i, a] − L[i, x_i] + L[j, b] − L[j, x_j] + Σ_f (f(a, b) − f(a, x_j) − f(x_i, b) + f(x_i, x_j))

    over the factors f of both, whose sum `shared` has room for.
    """
    _add_shared(c, s, i, j, shared)
    size, x, y = c.rows.size[j], s.x[i], s.x[j]
    here = shared[x * size + y] - _at(c, s, i, x) - _at(c, s, j, y)
    first, second, lowest = x, y, np.int64(0)
    for a in range(c.rows.size[i]):
        above = here + _at(c, s, i, a) - shared[a * size + y]
        for b in range(size):
            change = above + _at(c, s, j, b) - shared[x * size + b] + shared[a * size + b]
            if a != x and b != y and change < lowest:
                first, second, lowest = a, b, change
    return first, second, -lowest


@inlined
def _accept(c: Costs, s: State, p: Plans, j: int, favor: int) -> None:
    """Variable j, which asked nobody, takes the best of the offers made to it if that beats what it gains alone."""
    best, mine, theirs = -1, s.x[j], s.x[j]
    gain: Any = np.int64(0)
    for q in range(c.neighbours.offsets[j], c.neighbours.offsets[j + 1]):
        i = c.neighbours.variable[q]
        if p.asked[i] != j:
            continue
        a, b, together = best_pair(c, s, i, j, p.shared)
        if together > gain:
            best, gain, theirs, mine = i, together, a, b
    if best < 0 or gain < p.gain[j]:
        return
    if gain == p.gain[j] and (favor == UNILATERAL or (favor == EITHER and uniform(s.random) < 0.5)):
        return
    p.tally[ANSWERS_YES] += 1
    p.partner[best], p.value[best], p.gain[best] = j, theirs, gain
    p.partner[j], p.value[j], p.gain[j] = best, mine, gain


@inlined
def _wins(c: Costs, p: Plans, i: int) -> Any:
    """Whether i gains more than every neighbour but its partner; of equals, the first in order does."""
    wins = p.gain[i] > 0
    for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
        j = c.neighbours.variable[q]
        if j != p.partner[i]:
            wins = wins and (p.gain[i] > p.gain[j] or (p.gain[i] == p.gain[j] and i < j))
    return wins


@local_kernel
def mgm2(c: Costs, s: State, p: Plans, lowest: NDArray[np.int64], offering: float, favor: int) -> int:
    """Up to ``len(lowest)`` rounds; how many, negative if nobody moved in the last one, which then ends early."""
    for t in range(len(lowest)):
        for i in range(len(s.x)):
            p.value[i], p.gain[i] = _best_alone(c, s, i)
            p.partner[i], p.asked[i] = -1, -1
            count = c.neighbours.offsets[i + 1] - c.neighbours.offsets[i]
            if count > 0 and uniform(s.random) < offering:
                p.asked[i] = c.neighbours.variable[c.neighbours.offsets[i] + below(s.random, count)]
                p.tally[OFFERS] += 1
                p.tally[COMBINATIONS] += c.rows.size[i] * c.rows.size[p.asked[i]]
        for j in range(len(s.x)):
            if p.asked[j] < 0:
                _accept(c, s, p, j, favor)
        for i in range(len(s.x)):  # who moves, marked in `asked` before anything moves
            p.asked[i] = 1 if _wins(c, p, i) else 0
        moved = 0
        for i in range(len(s.x)):
            if p.asked[i] == 1 and (p.partner[i] < 0 or p.asked[p.partner[i]] == 1):
                move_now(c, s, i, p.value[i])
                moved += 1
        remember_now(s)
        lowest[t] = NOTHING if s.tally[VIOLATIONS] > 0 else s.tally[SOFT]
        if moved == 0:
            return -t - 1
    return len(lowest)


@local_kernel
def can_gain(c: Costs, s: State, shared: NDArray[np.int64]) -> bool:
    """Whether any variable, or any two neighbours together, could lower the cost."""
    for i in range(len(s.x)):
        for a in range(c.rows.size[i]):
            if _at(c, s, i, a) < _at(c, s, i, s.x[i]):
                return True
        for q in range(c.neighbours.offsets[i], c.neighbours.offsets[i + 1]):
            j = c.neighbours.variable[q]
            if i < j and best_pair(c, s, i, j, shared)[2] > 0:
                return True
    return False
