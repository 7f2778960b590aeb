"""Factors that come and go while variables are eliminated, compiled: linked to their variables, tables in one pool."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner
from dabp.kernels.rows import copy_row

Array = Any
Ints = NDArray[np.int64]
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


class Factors(NamedTuple):
    """Old and new factors; the entries of each variable are a linked list through those of all scopes."""

    num_factors: int
    """Dead ones included."""
    alive: NDArray[np.uint8]
    """[num_factors …]: whether a factor is still part of the problem."""
    scope: Ints
    """[num_factors …]: its first entry."""
    arity: Ints
    """[num_factors …]."""
    table: Ints
    """[num_factors …]: its first cell, in the problem's pool for the first `num_given`, in `pool` for the others."""
    num_entries: int
    scopes: Ints
    """[num_entries …]: the variable of each entry."""
    owner: Ints
    """[num_entries …]: the factor of each entry."""
    following: Ints
    """[num_entries …]: the next entry of the same variable, −1 at the end."""
    head: Ints
    """[N]: the first entry of each variable."""
    degree: Ints
    """[N]: living factors of each variable."""
    given_degree: Ints
    """[N]: those of them that the problem came with."""
    num_given: int
    num_cells: int
    pool: Floats
    """[num_cells …]: the tables of new factors."""


@inner
def grown(array: Array, size: int) -> Array:
    """The array itself if it holds `size` items, else a copy twice as long."""
    if size <= len(array):
        return array
    longer = np.zeros(max(size, 2 * len(array)), dtype=array.dtype)
    copy_row(array, len(array), longer, 0)
    return longer


@inner
def linked_factors(given: Given) -> Factors:
    """The problem's factors, each linked to its variables."""
    num_variables, count = len(given.sizes), len(given.table_start)
    capacity, num_entries = count + num_variables, len(given.scopes)
    alive, scope = np.zeros(capacity, dtype=np.uint8), np.empty(capacity, dtype=np.int64)
    arity, table = np.empty(capacity, dtype=np.int64), np.empty(capacity, dtype=np.int64)
    room = num_entries + num_variables + 16  # memory that nobody touches is free, and arrays that grow are copied
    owner, following = np.empty(room, dtype=np.int64), np.empty(room, dtype=np.int64)
    scopes = np.empty(room, dtype=np.int64)
    head, degree = np.full(num_variables, -1, dtype=np.int64), np.zeros(num_variables, dtype=np.int64)
    for factor in range(count):
        first, last = given.scope_offsets[factor], given.scope_offsets[factor + 1]
        scope[factor], arity[factor], table[factor] = first, last - first, given.table_start[factor]
        alive[factor] = last - first >= 2
        if alive[factor]:
            for entry in range(first, last):
                variable = given.scopes[entry]
                scopes[entry], owner[entry] = variable, factor
                following[entry] = head[variable]
                head[variable] = entry
                degree[variable] += 1
    return Factors(
        count,
        alive,
        scope,
        arity,
        table,
        num_entries,
        scopes,
        owner,
        following,
        head,
        degree,
        degree.copy(),
        count,
        0,
        np.zeros(16),
    )


@inner
def kill(factors: Factors, members: Array) -> None:
    """Take some factors out of the problem."""
    for factor in members:
        factors.alive[factor] = 0
        given = 1 if factor < factors.num_given else 0
        for entry in range(factors.scope[factor], factors.scope[factor] + factors.arity[factor]):
            factors.degree[factors.scopes[entry]] -= 1
            factors.given_degree[factors.scopes[entry]] -= given


@inner
def with_table(factors: Factors, scope: Array, cells: int) -> Factors:
    """The factors with one more over this scope, its table all zero."""
    width = len(scope)
    pool = grown(factors.pool, factors.num_cells + cells)
    pool[factors.num_cells : factors.num_cells + cells] = 0.0
    scopes = grown(factors.scopes, factors.num_entries + width)
    owner = grown(factors.owner, factors.num_entries + width)
    following = grown(factors.following, factors.num_entries + width)
    new, entry = factors.num_factors, factors.num_entries
    factors.scope[new], factors.arity[new], factors.table[new] = entry, width, factors.num_cells
    factors.alive[new] = 1
    for k in range(width):
        neighbour = scope[k]
        scopes[entry], owner[entry], following[entry] = neighbour, new, factors.head[neighbour]
        factors.head[neighbour] = entry
        factors.degree[neighbour] += 1
        entry += 1
    return Factors(
        new + 1,
        factors.alive,
        factors.scope,
        factors.arity,
        factors.table,
        entry,
        scopes,
        owner,
        following,
        factors.head,
        factors.degree,
        factors.given_degree,
        factors.num_given,
        factors.num_cells + cells,
        pool,
    )
