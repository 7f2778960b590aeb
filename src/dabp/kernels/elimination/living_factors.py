"""Factors that come and go while variables are eliminated, compiled: linked to their variables, tables in one pool.

Those that the problem came with stay where they are; what is known of them beside is a row of numbers a variable.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel, inner
from dabp.kernels.rows import grown

Array = Any

WIDEST = 16
"""No new factor has more variables."""
Ints = NDArray[np.int64]
Numbers = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]


class Given(NamedTuple):
    """The problem: its factors of arity 2 and more, and what single values cost."""

    sizes: Ints
    """[N]."""
    unary: Floats
    """[sum D]: own costs of each variable's values; those of the variables that stay are changed in place."""
    starts: Ints
    """[N + 1]: where each variable's start."""
    scopes: Ints
    """The variables of factor f are ``scopes[scope_offsets[f]:scope_offsets[f + 1]]``."""
    scope_offsets: Ints
    """[F + 1]."""
    table_start: Ints
    """[F]: the first cell of each factor's table."""
    pool: Floats


class Room(NamedTuple):
    """Memory for what is known of each variable and each entry of a scope; of 32 bits where that is enough."""

    row: Ints
    """[N + 1]: the factors given of variable i are ``factor[row[i]:row[i + 1]]``, in order; zeros before."""
    living: Ints
    """[N]: the first of these that has not been found dead."""
    factor: Numbers
    """[E]: those that were found dead and left there are −1."""
    alive: NDArray[np.uint8]
    """[F + N]: whether a factor, given or new, is part of the problem."""
    degree: Numbers
    """[N]: living factors of each variable; zeros before."""
    given_degree: Numbers
    """[N]: those of them that the problem came with."""
    head: Numbers
    """[N]: the first entry of each variable in a new factor, −1 if there is none; so before."""
    mark: Numbers
    """[N]: −1, except while neighbours are collected."""
    queue: Numbers
    """[N]: variables that wait, in a ring; all at first."""
    queued: NDArray[np.uint8]
    """[N]: whether each does."""
    gone: NDArray[np.uint8]
    """[N]: whether it is eliminated; zeros before."""

    @classmethod
    def of(cls, variables: int, factors: int, entries: int) -> Room:
        """For a problem of this size; made here, as NumPy asks for the large pages that kernels do not get."""
        number = np.int32 if max(factors, entries, WIDEST * variables) < 2**31 else np.int64
        return cls(
            row=np.zeros(variables + 1, dtype=np.int64),
            living=np.empty(variables, dtype=np.int64),
            factor=np.empty(entries, dtype=number),
            alive=np.empty(factors + variables, dtype=np.uint8),
            degree=np.zeros(variables, dtype=number),
            given_degree=np.empty(variables, dtype=number),
            head=np.full(variables, -1, dtype=number),
            mark=np.full(variables, -1, dtype=number),
            queue=np.empty(variables, dtype=number),
            queued=np.empty(variables, dtype=np.uint8),
            gone=np.zeros(variables, dtype=np.uint8),
        )


class Factors(NamedTuple):
    """Those that elimination makes, numbered from `num_given` on; their entries by variable are linked lists."""

    num_given: int
    num_factors: int
    """Given and dead ones included."""
    scope_start: Ints
    """[new + 1 …]: the first entry of each."""
    table_start: Ints
    """[new + 1 …]: the first cell of each."""
    num_entries: int
    scopes: Ints
    """[num_entries …]: the variable of each entry."""
    owner: Ints
    """[num_entries …]: the factor of each entry."""
    following: Ints
    """[num_entries …]: the next entry of the same variable, −1 at the end."""
    num_cells: int
    pool: Floats
    """[num_cells …]: their tables."""


@array_kernel
def link(given: Given, room: Room) -> None:
    """Link the problem's factors to their variables: a counting sort of the entries of their scopes."""
    scopes, offsets, row, place, factor = given.scopes, given.scope_offsets, room.row, room.living, room.factor
    count = len(given.table_start)
    for entry in range(offsets[0], offsets[count]):
        row[scopes[entry] + 1] += 1
    for i in range(len(place)):
        room.degree[i] = room.given_degree[i] = row[i + 1]
        row[i + 1] += row[i]
        place[i] = row[i]
        room.queue[i], room.queued[i] = i, 1
    for f in range(count):
        room.alive[f] = 1
        for entry in range(offsets[f], offsets[f + 1]):
            variable = scopes[entry]
            factor[place[variable]] = f
            place[variable] += 1
    for i in range(len(place)):
        place[i] = row[i]


@inner
def no_factors(num_variables: int, num_given: int) -> Factors:
    """No new factors, with memory for one for each variable."""
    scope_start, table_start = np.empty(num_variables + 1, np.int64), np.empty(num_variables + 1, np.int64)
    scope_start[0] = table_start[0] = 0
    length = num_variables + WIDEST
    scopes, owner, following = np.empty(length, np.int64), np.empty(length, np.int64), np.empty(length, np.int64)
    return Factors(num_given, num_given, scope_start, table_start, 0, scopes, owner, following, 0, np.zeros(16))


@inner
def entries_of(factor: int, given: Given, factors: Factors) -> tuple[int, int]:
    """The first and last entry of a factor's scope, among the given or the new ones."""
    if factor < factors.num_given:
        return given.scope_offsets[factor], given.scope_offsets[factor + 1]
    new = factor - factors.num_given
    return factors.scope_start[new], factors.scope_start[new + 1]


@inner
def kill(given: Given, factors: Factors, room: Room, members: Array) -> None:
    """Take some factors out of the problem."""
    for factor in members:
        room.alive[factor] = 0
        old = factor < factors.num_given
        first, last = entries_of(factor, given, factors)
        for entry in range(first, last):
            variable = given.scopes[entry] if old else factors.scopes[entry]
            room.degree[variable] -= 1
            if old:
                room.given_degree[variable] -= 1


@inner
def with_table(factors: Factors, room: Room, scope: Array, cells: int) -> Factors:
    """The factors with one more over this scope, its table all zero."""
    width = len(scope)
    pool = grown(factors.pool, factors.num_cells + cells)
    pool[factors.num_cells : factors.num_cells + cells] = 0.0
    scopes = grown(factors.scopes, factors.num_entries + width)
    owner = grown(factors.owner, factors.num_entries + width)
    following = grown(factors.following, factors.num_entries + width)
    new, entry = factors.num_factors, factors.num_entries
    factors.scope_start[new - factors.num_given + 1] = entry + width
    factors.table_start[new - factors.num_given + 1] = factors.num_cells + cells
    room.alive[new] = 1
    for k in range(width):
        neighbour = scope[k]
        scopes[entry], owner[entry], following[entry] = neighbour, new, room.head[neighbour]
        room.head[neighbour] = entry
        room.degree[neighbour] += 1
        entry += 1
    return Factors(
        factors.num_given,
        new + 1,
        factors.scope_start,
        factors.table_start,
        entry,
        scopes,
        owner,
        following,
        factors.num_cells + cells,
        pool,
    )
