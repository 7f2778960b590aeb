"""Lower bounds on assignments whose pairs have costs (quadratic assignment), by dual ascent in integers.

Rows i take different columns a. Taking a costs L[i, a], and taking a and b by i and j costs C[i, a, j, b] +
C[j, b, i, a]: how a pair's cost is split between the two is free. All costs are at least 0.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.assignment.linear import Ints, Room, assign
from dabp.kernels.decorators import array_inner, array_kernel


class Tables(NamedTuple):
    """Pairs of rows that have a table; n rows and columns."""

    factor: Ints  # the table of rows i and j, −1 if there is none, [n, n]; the rows of `value` that it has first below
    first: Ints  # the row whose value is the slow one, [F]
    base: Ints  # the first cell of each table in `pool`, [F]
    width: Ints  # cells between two values of the first row, [F]
    least: Ints  # the least cost between different columns, [F]
    value: Ints  # the value that stands for each column, −1 if it is forbidden to the row, [n, n]
    pool: Ints
    forbidden: int  # the cost of what is forbidden


@array_inner
def pair_cost(t: Tables, f: Any, i: int, a: int, j: int, b: int) -> Any:
    """The cost of columns a and b for rows i and j, not less than 0."""
    x, y = t.value[i, a], t.value[j, b]
    if x < 0 or y < 0:
        return t.forbidden
    at = x * t.width[f] + y if t.first[f] == i else y * t.width[f] + x
    return t.pool[t.base[f] + at] - t.least[f]


@array_kernel
def least_costs(t: Tables, rows: Ints) -> None:
    """Set `least`; `rows` has the two rows of each table, [F, 2]."""
    for f in range(len(rows)):
        t.least[f] = 0
        least = t.forbidden
        for a in range(len(t.value)):
            for b in range(len(t.value)):
                if a != b:
                    least = min(least, pair_cost(t, f, rows[f, 0], a, rows[f, 1], b))
        t.least[f] = least


@array_kernel
def fill(t: Tables, shares: Any) -> None:
    """Give every pair's cost to its lower row; `shares` is C, [n, n, n, n]."""
    n = len(t.value)
    for i in range(n):
        for j in range(n):
            f = t.factor[i, j] if i < j else np.int64(-1)
            for a in range(n):
                for b in range(n):
                    shares[i, a, j, b] = pair_cost(t, f, i, a, j, b) if f >= 0 and a != b else 0


@array_kernel
def lawler(t: Tables, leaders: Any, room: Room, first: int, last: int) -> None:
    """Add to the leaders of rows `first` to `last` − 1 what pairs cost them at least, half of each pair's cost.

    Reference: P. C. Gilmore, *Optimal and suboptimal algorithms for the quadratic assignment problem*, 1962;
    E. L. Lawler, *The quadratic assignment problem*, 1963.
    """
    n = len(t.value)
    for i in range(first, last):
        for a in range(n):
            for j in range(n):
                if j != i:
                    f = t.factor[i, j]
                    for b in range(n):
                        if b != a:
                            half = pair_cost(t, f, i, a, j, b) // 2 if f >= 0 else 0
                            room.costs[j - (j > i), b - (b > a)] = half
            leaders[i, a] += assign(room, n - 1)


@array_kernel
def total(leaders: Any, room: Room, columns: Ints) -> Any:
    """The least total of the leaders, which are then reduced; `columns` gets the column of each row."""
    n = len(leaders)
    for i in range(n):
        for a in range(n):
            room.costs[i, a] = leaders[i, a]
    value = assign(room, n)
    for i in range(n):
        columns[room.row_of[i]] = i
        for a in range(n):
            leaders[i, a] = room.costs[i, a]
    return value


@array_kernel
def ascend(shares: Any, leaders: Any, room: Room) -> None:
    """One round of dual ascent: leaders are spread over their pairs, then every column of every row takes all it can.

    Row i with column a takes the shares of its partners and the least total of an assignment of the other rows.
    Reference: P. Hahn, T. Grant, *Lower bounds for the quadratic assignment problem based upon a dual formulation*,
    Operations Research 1998.
    """
    n = len(leaders)
    for i in range(n):
        for a in range(n):
            part, rest = leaders[i, a] // (n - 1), leaders[i, a] % (n - 1)
            for j in range(n):
                if j != i:
                    more = part + (1 if j - (j > i) < rest else 0)
                    for b in range(n):
                        shares[i, a, j, b] += more if b != a else 0
            leaders[i, a] = 0
    for i in range(n):
        for a in range(n):
            for j in range(n):
                if j != i:
                    for b in range(n):
                        if b != a:
                            room.costs[j - (j > i), b - (b > a)] = shares[i, a, j, b] + shares[j, b, i, a]
                            shares[j, b, i, a] = 0
            leaders[i, a] = assign(room, n - 1)
            for j in range(n):
                if j != i:
                    for b in range(n):
                        if b != a:
                            shares[i, a, j, b] = room.costs[j - (j > i), b - (b > a)]


@array_kernel
def restrict(shares: Any, leaders: Any, i: int, a: int, fewer: Any, fewer_leaders: Any) -> None:
    """What is left when row i takes column a: one row and one column less."""
    n = len(fewer_leaders)
    for j in range(n):
        for b in range(n):
            y, q = j + (j >= i), b + (b >= a)
            fewer_leaders[j, b] = leaders[y, q] + shares[i, a, y, q] + shares[y, q, i, a]
            for k in range(n):
                for c in range(n):
                    fewer[j, b, k, c] = shares[y, q, k + (k >= i), c + (c >= a)]
