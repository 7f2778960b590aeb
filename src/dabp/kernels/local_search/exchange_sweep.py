"""Sweeps in which variables that must differ exchange their values.

Where as many variables as there are values must all differ (assignments, orders, Latin squares), every change of one
variable alone breaks a constraint, and a search by single changes climbs over it again and again. An exchange keeps
all of them different.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.heat_bath import least_feasible, resample
from dabp.kernels.local_search.moves import move
from dabp.kernels.local_search.random_stream import below, draw, uniform
from dabp.kernels.local_search.search_arrays import NOTHING, Costs, State


class Sets(NamedTuple):
    """Sets of variables that must all differ, no variable in two of them; S sets.

    Domains may differ: two values of two variables that exclude each other have the same label.
    """

    of: NDArray[np.int64]
    """The set of each variable, −1 for none, [N]."""
    offsets: NDArray[np.int64]
    """The members of set k are ``members[offsets[k]:offsets[k + 1]]``, [S + 1]."""
    members: NDArray[np.int64]
    label: NDArray[np.int64]
    """The label of each value in its variable's set, −1 for none, placed like the rows of L, [R]."""
    value_at: NDArray[np.int64]
    """Where the values of variable i by label begin in `value`, [N]."""
    value: NDArray[np.int64]
    """The value of a variable that has the label, −1 if none has."""
    only: NDArray[np.bool_]
    """Whether a variable can do nothing but exchange: its set takes all values there are, [N]."""


@inlined
def _partner(sets: Sets, i: int, random: NDArray[np.uint64]) -> Any:
    """Another variable of i's set, by chance."""
    first, last = sets.offsets[sets.of[i]], sets.offsets[sets.of[i] + 1]
    j = sets.members[first + below(random, last - first - 1)]
    return sets.members[last - 1] if j == i else j


@inlined
def _pair_cost(c: Costs, s: State, e: int, x: int, y: int) -> Any:
    """What an edge's factor costs, its weight included, with these values of its ends."""
    at = x * c.rows.width[c.edges.target[e]] + y
    cost: Any = np.int64(0)
    if c.edges.soft_at[e] >= 0:
        cost += np.int64(c.edges.soft[c.edges.soft_at[e] + at])
    if c.edges.hard_at[e] >= 0:
        cost += np.int64(s.weights[c.edges.weight[e]]) * np.int64(c.edges.hard[c.edges.hard_at[e] + at])
    return cost


@inlined
def _change(c: Costs, s: State, i: int, j: int, x: int, y: int) -> Any:
    """How much the weighted cost rises when i takes x and j takes y at once.

    ``L[i, x] − L[i, x_i] + L[j, y] − L[j, x_j]``, and for every factor of both, which these count as if the other
    stayed, ``f(x, y) + f(x_i, x_j) − f(x, x_j) − f(x_i, y)``.
    """
    u, v = s.x[i], s.x[j]
    row, other = c.rows.start[i], c.rows.start[j]
    change = np.int64(s.local[row + x]) - np.int64(s.local[row + u])
    change += np.int64(s.local[other + y]) - np.int64(s.local[other + v])
    low, high = c.edges.offsets[i], c.edges.offsets[i + 1]
    while low < high:  # the edges of a variable are sorted by where they lead
        middle = (low + high) // 2
        if c.edges.target[middle] < j:
            low = middle + 1
        else:
            high = middle
    while low < c.edges.offsets[i + 1] and c.edges.target[low] == j:
        change += _pair_cost(c, s, low, x, y) + _pair_cost(c, s, low, u, v)
        change -= _pair_cost(c, s, low, x, v) + _pair_cost(c, s, low, u, y)
        low += 1
    return change


@inlined
def _values(c: Costs, s: State, sets: Sets, i: int, j: int) -> Any:
    """The values that i and j would have after an exchange, −1 where there is none."""
    mine, theirs = sets.label[c.rows.start[i] + s.x[i]], sets.label[c.rows.start[j] + s.x[j]]
    if mine < 0 or theirs < 0 or mine == theirs:
        return -1, -1
    return sets.value[sets.value_at[i] + theirs], sets.value[sets.value_at[j] + mine]


@local_kernel
def sweep_and_exchange(
    c: Costs,
    s: State,
    sets: Sets,
    noise: NDArray[np.float32],
    temperatures: NDArray[np.float64],
    lowest: NDArray[np.int64],
) -> int:
    """As `sweep`, but offer each member of a set an exchange as well: made with probability min(1, exp(−Δ / T))."""
    moved = 0
    for t in range(len(temperatures)):
        temperature = temperatures[t]
        least_cost = np.int64(NOTHING)
        for i in range(len(s.x)):
            j, x, y = i, s.x[i], s.x[i]
            if not sets.only[i]:
                x = resample(c, s, i, draw(s.random), noise, np.float32(temperature))
            if sets.of[i] >= 0 and x == s.x[i]:
                k = _partner(sets, i, s.random)
                u, v = _values(c, s, sets, i, k)
                if u >= 0 and v >= 0:
                    change = _change(c, s, i, k, u, v)
                    if change <= 0 or uniform(s.random) * np.exp(np.float64(change) / temperature) < 1.0:
                        j, x, y = k, u, v
            if x == s.x[i]:
                continue
            for part in range(1 if j == i else 2):
                move(c, s, i if part == 0 else j, x if part == 0 else y)
            moved += 1
            least_cost = least_feasible(s, least_cost)
        lowest[t] = least_feasible(s, least_cost)
    return moved


@local_kernel
def exchange_changes(
    c: Costs, s: State, sets: Sets, first: NDArray[np.int64], second: NDArray[np.int64], changes: NDArray[np.int64]
) -> None:
    """What exchanges of pairs of variables would cost; `NOTHING` where there is none."""
    for k in range(len(first)):
        x, y = _values(c, s, sets, first[k], second[k])
        changes[k] = _change(c, s, first[k], second[k], x, y) if x >= 0 and y >= 0 else np.int64(NOTHING)
