"""Rounds of MGM-2: variables change alone or in pairs, where no neighbour gains more."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.distributed import cost_of_round, wins
from dabp.kernels.local_search.exchange import pair_cost
from dabp.kernels.local_search.moves import move_now
from dabp.kernels.local_search.random_stream import below, uniform
from dabp.kernels.local_search.search_arrays import Costs, Ints, Record, State

COUNTS = np.dtype(
    [
        ("offers", np.int64),
        ("accepted", np.int64),  # offers that were accepted
        ("combinations", np.int64),  # combinations of values in the offers
    ],
    align=True,
)
"""The numbers of `Plans.counts`, over the whole search."""


class Plans(NamedTuple):
    """What each variable plans in a round; N variables."""

    value: Ints  # the value it would take, [N]
    gain: Ints  # how much the cost falls by its move, or by that of its pair, [N]
    asked: Ints  # the neighbour it makes an offer to, −1 if it waits for offers, [N]
    partner: Ints  # the other variable of its pair, −1 if it is alone, [N]
    shared: Ints  # workspace for the costs of two variables' common factors
    counts: Record  # `COUNTS`, []


@inlined
def _at(c: Costs, s: State, i: int, value: int) -> Any:
    return np.int64(s.local[c.rows.start[i] + value])


@inlined
def _best_alone(c: Costs, s: State, i: int) -> tuple[int, Any]:
    """The first value of least cost from a random one on, and how much it gains; the present one if none does."""
    size = c.rows.size[i]
    first = below(s.random, size)
    value, lowest = s.x[i], _at(c, s, i, s.x[i])
    for k in range(size):
        other = (first + k) % size
        if _at(c, s, i, other) < lowest:
            value, lowest = other, _at(c, s, i, other)
    return value, _at(c, s, i, s.x[i]) - lowest


@inlined
def _add_shared(c: Costs, s: State, i: int, j: int, shared: Ints) -> None:
    """The weighted costs of the factors with both i and j, by the values of the two."""
    size = c.rows.size[j]
    for k in range(c.rows.size[i] * size):
        shared[k] = 0
    for e in range(c.edges.offsets[i], c.edges.offsets[i + 1]):
        if c.edges.target[e] == j:
            for k in range(c.rows.size[i] * size):
                shared[k] += pair_cost(c, s, e, k // size, k % size)
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
def best_pair(c: Costs, s: State, i: int, j: int, shared: Ints) -> tuple[int, int, Any]:
    """The values of i and j that lower the cost most if both change, the first of several, and by how much.

    By i → a and j → b the cost changes by

        L[i, a] − L[i, x_i] + L[j, b] − L[j, x_j] + Σ_f (f(a, b) − f(a, x_j) − f(x_i, b) + f(x_i, x_j))

    over the factors f of both, whose sum is computed in `shared`.
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
def _accept(c: Costs, s: State, p: Plans, j: int, tie: float) -> None:
    """Variable j, which made no offer, takes the best of the offers made to it if that beats what it gains alone."""
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
    if gain == p.gain[j] and (tie == 0.0 or (tie < 1.0 and uniform(s.random) < 1.0 - tie)):
        return
    p.counts[()].accepted += 1
    p.partner[best], p.value[best], p.gain[best] = j, theirs, gain
    p.partner[j], p.value[j], p.gain[j] = best, mine, gain


@local_kernel
def mgm2(c: Costs, s: State, p: Plans, lowest: Ints, offering: float, tie: float) -> int:
    """Up to ``len(lowest)`` rounds; returns how many, negative if no variable moved in the last one, which ends early.

    `offering` is the probability of making an offer, `tie` that of a pair which gains as much as a change alone.
    """
    counts = p.counts[()]
    for t in range(len(lowest)):
        for i in range(len(s.x)):
            p.value[i], p.gain[i] = _best_alone(c, s, i)
            p.partner[i], p.asked[i] = -1, -1
            count = c.neighbours.offsets[i + 1] - c.neighbours.offsets[i]
            if count > 0 and uniform(s.random) < offering:
                p.asked[i] = c.neighbours.variable[c.neighbours.offsets[i] + below(s.random, count)]
                counts.offers += 1
                counts.combinations += c.rows.size[i] * c.rows.size[p.asked[i]]
        for j in range(len(s.x)):
            if p.asked[j] < 0:
                _accept(c, s, p, j, tie)
        for i in range(len(s.x)):  # marked in `asked` before anything moves
            p.asked[i] = 1 if wins(c, p.gain, i, p.partner[i]) else 0
        moved = 0
        for i in range(len(s.x)):
            if p.asked[i] == 1 and (p.partner[i] < 0 or p.asked[p.partner[i]] == 1):
                move_now(c, s, i, p.value[i])
                moved += 1
        lowest[t] = cost_of_round(s)
        if moved == 0:
            return -t - 1
    return len(lowest)


@local_kernel
def can_gain(c: Costs, s: State, shared: Ints) -> bool:
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
