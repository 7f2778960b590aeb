"""Exchanges of the values of two variables that must differ.

Where as many variables as there are values must all differ (assignments, orders, Latin squares), every change of one
variable alone breaks a constraint. An exchange keeps all of them different.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.compilation import inlined, local_kernel
from dabp.kernels.local_search.random_stream import below
from dabp.kernels.local_search.search_arrays import NOTHING, Costs, Ints, State


class Sets(NamedTuple):
    """Sets of variables that must all differ, no variable in two of them; S sets.

    Two values of two variables of a set that exclude each other have the same label.
    """

    of: Ints  # the set of each variable, −1 for none, [N]
    offsets: Ints  # the members of set k are ``members[offsets[k]:offsets[k + 1]]``, [S + 1]
    members: Ints
    label: Ints  # the label of each value, −1 for none, laid out like the rows of L, [R]
    value_at: Ints  # where the values of variable i by label begin in `value`, [N]
    value: Ints  # the value of a variable with the label, −1 if there is none
    only: NDArray[np.bool_]  # whether a variable only exchanges: its set takes all values there are, [N]


@inlined
def partner(sets: Sets, i: int, random: NDArray[np.uint64]) -> Any:
    """Another variable of i's set, drawn uniformly."""
    first, last = sets.offsets[sets.of[i]], sets.offsets[sets.of[i] + 1]
    j = sets.members[first + below(random, last - first - 1)]
    return sets.members[last - 1] if j == i else j


@inlined
def exchanged_values(c: Costs, s: State, sets: Sets, i: int, j: int) -> Any:
    """The values that i and j would have after an exchange, −1 where there is none."""
    mine, theirs = sets.label[c.rows.start[i] + s.x[i]], sets.label[c.rows.start[j] + s.x[j]]
    if mine < 0 or theirs < 0 or mine == theirs:
        return -1, -1
    return sets.value[sets.value_at[i] + theirs], sets.value[sets.value_at[j] + mine]


@inlined
def pair_cost(c: Costs, s: State, e: int, x: int, y: int) -> Any:
    """The weighted cost of an edge's factor for these values of its variables."""
    at = x * c.rows.width[c.edges.target[e]] + y
    cost: Any = np.int64(0)
    if c.edges.soft_at[e] >= 0:
        cost += np.int64(c.edges.soft[c.edges.soft_at[e] + at])
    if c.edges.hard_at[e] >= 0:
        cost += np.int64(s.weights[c.edges.weight[e]]) * np.int64(c.edges.hard[c.edges.hard_at[e] + at])
    return cost


@inlined
def exchange_change(c: Costs, s: State, i: int, j: int, x: int, y: int) -> Any:
    """How much the weighted cost rises when i takes x and j takes y at once.

    ``L[i, x] − L[i, x_i] + L[j, y] − L[j, x_j]``, and ``f(x, y) + f(x_i, x_j) − f(x, x_j) − f(x_i, y)`` for every
    factor f of both, which the local costs count as if the other variable stayed.
    """
    u, v = s.x[i], s.x[j]
    row, other = c.rows.start[i], c.rows.start[j]
    change = np.int64(s.local[row + x]) - np.int64(s.local[row + u])
    change += np.int64(s.local[other + y]) - np.int64(s.local[other + v])
    low, high = c.edges.offsets[i], c.edges.offsets[i + 1]
    while low < high:  # the edges of a variable are sorted by target
        middle = (low + high) // 2
        if c.edges.target[middle] < j:
            low = middle + 1
        else:
            high = middle
    while low < c.edges.offsets[i + 1] and c.edges.target[low] == j:
        change += pair_cost(c, s, low, x, y) + pair_cost(c, s, low, u, v)
        change -= pair_cost(c, s, low, x, v) + pair_cost(c, s, low, u, y)
        low += 1
    return change


@local_kernel
def exchange_changes(c: Costs, s: State, sets: Sets, first: Ints, second: Ints, changes: Ints) -> None:
    """What exchanges of pairs of variables would cost; `NOTHING` where there is none."""
    for k in range(len(first)):
        x, y = exchanged_values(c, s, sets, first[k], second[k])
        changes[k] = exchange_change(c, s, first[k], second[k], x, y) if x >= 0 and y >= 0 else np.int64(NOTHING)
