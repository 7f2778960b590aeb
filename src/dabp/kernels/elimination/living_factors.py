"""Factors during an elimination, compiled: those of the problem, indexed by variable, and new ones in linked lists."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel, inner
from dabp.kernels.rows import grown

Array = Any

MAX_SCOPE = 12
"""The most neighbours of a variable that is eliminated, and variables of a new factor."""
Ints = NDArray[np.int64]
Numbers = NDArray[np.signedinteger[Any]]
Floats = NDArray[np.float64]


class Given(NamedTuple):
    """The problem: its factors of arity 2 and more, and what single values cost."""

    sizes: Ints
    """[N]."""
    unary: Floats
    """[sum D]: own costs of values; those of variables that stay are changed in place."""
    starts: Ints
    """[N + 1]: the first own cost of each variable."""
    scopes: Ints
    """The variables of factor f are ``scopes[scope_offsets[f]:scope_offsets[f + 1]]``."""
    scope_offsets: Ints
    """[F + 1]."""
    table_start: Ints
    """[F]: the first cell of each factor's table."""
    pool: Floats


class Index(NamedTuple):
    """The factors of each variable, and the state of the elimination; in 32 bits where that is enough."""

    row: Ints
    """[N + 1]: the given factors of variable i are ``factor[row[i]:row[i + 1]]``, in order."""
    living: Ints
    """[N]: the first of these that is not known to be dead."""
    factor: Numbers
    """[E]: −1 for dead factors that were not removed."""
    alive: NDArray[np.uint8]
    """[F + N]: whether a factor, given or new, is part of the problem."""
    degree: Numbers
    """[N]: living factors of each variable."""
    given_degree: Numbers
    """[N]: the given ones of these."""
    head: Numbers
    """[N]: the first entry of each variable in a new factor, −1 if there is none."""
    mark: Numbers
    """[N]: marks of collected neighbours, −1 between collections."""
    queue: Numbers
    """[N]: variables to try, in a ring; all at first."""
    queued: NDArray[np.uint8]
    """[N]: whether each variable is in the ring."""
    gone: NDArray[np.uint8]
    """[N]: whether each variable is eliminated."""

    @classmethod
    def of(cls, variables: int, factors: int, entries: int) -> Index:
        """An index for a problem of this size, before `link`; NumPy allocates large pages, kernels do not."""
        number = np.int32 if max(factors, entries, MAX_SCOPE * variables) < 2**31 else np.int64
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
    """Factors made by the elimination, numbered from `num_given` on; entries of a variable are a linked list."""

    num_given: int
    num_factors: int
    """All factors, with given and dead ones."""
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
def link(given: Given, index: Index) -> None:
    """Index the problem's factors by variable: a counting sort of the entries of their scopes."""
    scopes, offsets, row, place, factor = given.scopes, given.scope_offsets, index.row, index.living, index.factor
    count = len(given.table_start)
    for entry in range(offsets[0], offsets[count]):
        row[scopes[entry] + 1] += 1
    for i in range(len(place)):
        index.degree[i] = index.given_degree[i] = row[i + 1]
        row[i + 1] += row[i]
        place[i] = row[i]
        index.queue[i], index.queued[i] = i, 1
    for f in range(count):
        index.alive[f] = 1
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
    length = num_variables + MAX_SCOPE
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
def kill(given: Given, factors: Factors, index: Index, members: Array) -> None:
    """Remove factors from the problem."""
    for factor in members:
        index.alive[factor] = 0
        old = factor < factors.num_given
        first, last = entries_of(factor, given, factors)
        for entry in range(first, last):
            variable = given.scopes[entry] if old else factors.scopes[entry]
            index.degree[variable] -= 1
            if old:
                index.given_degree[variable] -= 1


@inner
def with_table(factors: Factors, index: Index, scope: Array, cells: int) -> Factors:
    """The factors and one more over this scope, with a table of zeros."""
    width = len(scope)
    pool = grown(factors.pool, factors.num_cells + cells)
    pool[factors.num_cells : factors.num_cells + cells] = 0.0
    scopes = grown(factors.scopes, factors.num_entries + width)
    owner = grown(factors.owner, factors.num_entries + width)
    following = grown(factors.following, factors.num_entries + width)
    new, entry = factors.num_factors, factors.num_entries
    factors.scope_start[new - factors.num_given + 1] = entry + width
    factors.table_start[new - factors.num_given + 1] = factors.num_cells + cells
    index.alive[new] = 1
    for k in range(width):
        neighbour = scope[k]
        scopes[entry], owner[entry], following[entry] = neighbour, new, index.head[neighbour]
        index.head[neighbour] = entry
        index.degree[neighbour] += 1
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
