"""Columns of a problem and of ragged arrays: offsets, positions, strides, ranges, constants, each written once here.

A ragged array is a flat one with offsets: row r is ``flat[offsets[r]:offsets[r + 1]]``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

if TYPE_CHECKING:
    from dabp.problem.problem import Problem

Indices = NDArray[np.int64]
Column = TypeVar("Column", bound=NDArray[Any])


def offsets_of(lengths: ArrayLike) -> Indices:
    """Where each of some consecutive pieces starts, and the end of the last: [n + 1]."""
    pieces = np.asarray(lengths, dtype=np.int64)
    result = np.zeros(len(pieces) + 1, dtype=np.int64)
    np.cumsum(pieces, out=result[1:])
    return result


def handed_over(column: Column) -> Column:
    """The column, read-only from now on: a `Problem` takes it without a copy."""
    column.flags.writeable = False
    return column


def as_fixed(column: Column) -> Column:
    """A contiguous view that cannot be changed, as columns of problems are: kernels are compiled for no other kind."""
    fixed = np.ascontiguousarray(column).view()
    fixed.flags.writeable = False
    return cast("Column", fixed)


def ragged_positions(offsets: Indices, rows: Indices) -> Indices:
    """Positions of all entries of the chosen rows of a ragged array, row after row."""
    lengths = offsets[rows + 1] - offsets[rows]
    if len(rows) and (lengths == lengths[0]).all():
        return (offsets[rows][:, None] + np.arange(lengths[0])).ravel()
    starts = offsets_of(lengths)
    return np.arange(starts[-1]) + np.repeat(offsets[rows] - starts[:-1], lengths)


def cells_of_tables(problem: Problem, tables: Indices) -> NDArray[np.float64]:
    """The costs of some tables, table after table; a view of the pool where they lie in it so."""
    starts, ends = problem.pool_offsets[tables], problem.pool_offsets[tables + 1]
    if not len(tables):
        return problem.pool[:0]
    if (starts[1:] == ends[:-1]).all():
        return problem.pool[starts[0] : ends[-1]]
    length = int(ends[0] - starts[0])
    if length and len(problem.pool) % length == 0 and (ends - starts == length).all() and not (starts % length).any():
        return problem.pool.reshape(-1, length)[starts // length].reshape(-1)
    return problem.pool[ragged_positions(problem.pool_offsets, tables)]


def row_keys(rows: Indices, base: int) -> Indices:
    """An integer per row, equal exactly for equal rows; entries of all columns but the first are below `base`."""
    keys = rows[:, 0]
    for column in range(1, rows.shape[1]):
        if column > 1:  # after two columns the product could overflow: number the different keys first
            keys = np.unique(keys, return_inverse=True)[1]
        keys = keys * base + rows[:, column]
    return np.asarray(keys, dtype=np.int64)


def in_order(keys: Indices) -> Indices:
    """The keys sorted: by merging where they come in a few rising runs, as those of grids do, else by splitting."""
    runs = np.count_nonzero(keys[1:] < keys[:-1])
    return np.sort(keys, kind="stable" if runs < len(keys) // 100 else None) if runs else keys


def distinct(keys: Indices) -> Indices:
    """The different entries in order: `np.unique` by sorting, many times faster than its hash table on millions."""
    ordered = in_order(keys)
    return ordered[np.append(True, ordered[1:] != ordered[:-1])] if len(ordered) else ordered


def cell_strides(problem: Problem) -> Indices:
    """For each scope entry, how many cells of the table one step of its value moves; as long as `scope_variables`.

    Contiguous and read-only whatever the problem, so that kernels need no second form for it.
    """
    if len(problem.facts.arity_groups) == 1:
        return handed_over(np.ascontiguousarray(problem.facts.arity_groups[0].strides.reshape(-1)))
    strides = np.ones(len(problem.scope_variables), dtype=np.int64)
    for group in problem.facts.arity_groups:
        places = problem.scope_offsets[group.factors][:, None] + np.arange(group.variables.shape[1])
        strides[places] = group.strides
    return handed_over(strides)


def add_at(totals: NDArray[Any], places: Indices, amounts: NDArray[Any]) -> None:
    """``totals[places] += amounts``, each added also where places repeat; they often rise, and then do not."""
    if (places[1:] > places[:-1]).all():
        totals[places] += amounts
    else:
        np.add.at(totals, places, amounts)


def first_least(values: NDArray[np.float64], starts: Indices) -> Indices:
    """The place within its row of the first least entry of each row of a ragged array; no row is empty."""
    if len(starts) < 2 or not values.any():
        return np.zeros(max(0, len(starts) - 1), dtype=np.int64)
    lengths = np.diff(starts)
    if (lengths == lengths[0]).all():
        rows, block = values.reshape(-1, lengths[0]), max(1, 2**16 // int(lengths[0]))  # argmin copies it
        parts = [np.argmin(rows[first : first + block], axis=1) for first in range(0, len(rows), block)]
        return np.concatenate(parts).astype(np.int64, copy=False)
    least = np.repeat(np.minimum.reduceat(values, starts[:-1]), lengths)
    places = np.flatnonzero(values == least)
    first = places[np.searchsorted(places, starts[:-1])]
    return np.asarray(first - starts[:-1], dtype=np.int64)


def different_rows(rows: NDArray[np.float64]) -> tuple[Indices, Indices]:
    """The first of each set of rows that are equal bit for bit, in order, and which of these each row equals.

    Rows are compared by a hash; where different rows have one hash, the rows themselves are compared.
    """
    if len(rows) < 2:
        return np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows), dtype=np.int64)
    bits = np.ascontiguousarray(rows, dtype=np.float64).reshape(len(rows), -1).view(np.uint64)
    keys = _row_hashes(bits)
    if (keys == keys[0]).all():  # one table for all is common, and needs no sorting
        first, inverse = np.zeros(1, dtype=np.int64), np.zeros(len(keys), dtype=np.int64)
    else:
        first, inverse = np.unique(keys, return_index=True, return_inverse=True)[1:]
    if not _are_copies(bits, first[inverse]):
        first, inverse = np.unique(bits, axis=0, return_index=True, return_inverse=True)[1:]
        inverse = inverse.ravel()
    order = np.argsort(first, kind="stable")
    rank = np.empty(len(order), dtype=np.int64)
    rank[order] = np.arange(len(order))
    return first[order], rank[inverse]


def _row_hashes(bits: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """A hash of each row: Σ (b ⊕ b ≫ 29)·w over its cells, w odd and random, modulo 2⁶⁴."""
    weights = np.random.default_rng(0).integers(0, 2**63, bits.shape[1], dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    parts = (bits[block] for block in _cached_blocks(bits))
    return np.concatenate([(part ^ (part >> np.uint64(29))) @ weights for part in parts])


def _are_copies(bits: NDArray[np.uint64], of: Indices) -> bool:
    """Whether each row equals the row that `of` names for it."""
    return all(np.array_equal(bits[block], bits[of[block]]) for block in _cached_blocks(bits))


def _cached_blocks(bits: NDArray[np.uint64]) -> list[slice]:
    """Blocks of rows that stay in the processor's cache."""
    length = max(1, 2**15 // max(1, bits.shape[1]))
    return [slice(start, start + length) for start in range(0, len(bits), length)]


def with_shared_tables(problem: Problem) -> Problem:
    """The same problem with equal tables of 32 cells and more, and of equal domain sizes, stored once."""
    lengths = np.diff(problem.pool_offsets)
    same = np.arange(len(lengths))
    for group in problem.facts.arity_groups:
        large = lengths[problem.factor_table[group.factors]] >= 32
        if group.variables.shape[1] == 0 or not large.any():
            continue
        keys = row_keys(problem.domain_sizes[group.variables[large]], int(problem.domain_sizes.max()) + 1)
        order = np.argsort(keys, kind="stable")
        for factors in np.split(group.factors[large][order], np.flatnonzero(np.diff(keys[order])) + 1):
            tables = distinct(problem.factor_table[factors])
            if len(tables) > 1:
                first, which = different_rows(cells_of_tables(problem, tables).reshape(len(tables), -1))
                same[tables] = tables[first[which]]
    kept, number = np.unique(same, return_inverse=True)
    if len(kept) == len(same):
        return problem
    return problem.replace(
        pool=handed_over(cells_of_tables(problem, kept).copy()),
        pool_offsets=handed_over(offsets_of(lengths[kept])),
        factor_table=handed_over(number[problem.factor_table]),
    )


def unary_costs(problem: Problem) -> tuple[NDArray[np.float64], Indices]:
    """The sum of the unary factors of every variable, flat, and where each variable's part starts: [sum D], [N + 1]."""
    costs, starts = own_costs(problem)
    return (costs if costs.flags.writeable else costs.copy()), starts


def own_costs(problem: Problem) -> tuple[NDArray[np.float64], Indices]:
    """`unary_costs` to be read: a read-only part of the pool where it contains them in order."""
    starts = offsets_of(problem.domain_sizes)
    rows = np.flatnonzero(problem.arities == 1)
    if len(rows):
        variables = problem.scope_variables[problem.scope_offsets[rows]]
        tables = problem.factor_table[rows]
        if len(rows) == problem.num_variables and (np.diff(variables) == 1).all() and (np.diff(tables) == 1).all():
            return problem.pool[problem.pool_offsets[tables[0]] : problem.pool_offsets[tables[-1] + 1]], starts
    costs = np.zeros(starts[-1])
    if len(rows):
        source = ragged_positions(problem.pool_offsets, tables)
        add_at(costs, ragged_positions(starts, variables), problem.pool[source])
    return costs, starts


def cheapest_values(problem: Problem) -> Indices:
    """Each variable's cheapest value by its unary costs, the first among equals."""
    from dabp.problem.facts import derived

    return derived(problem, _cheapest_values).copy()


def _cheapest_values(problem: Problem) -> Indices:
    return first_least(*own_costs(problem))


def table_ranges(problem: Problem) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least finite cost of each table and its finite range, [T]; 0 where nothing is finite."""
    lowest, highest = problem.facts.finite_extremes
    return lowest, highest - lowest


def nullary_costs(problem: Problem) -> float:
    """The factors without variables, added up."""
    tables = problem.factor_table[problem.arities == 0]
    return float(problem.pool[problem.pool_offsets[tables]].sum())


def nullary_constant(problem: Problem) -> float:
    """The problem's constant and its factors without variables, added up: what every assignment costs."""
    return problem.constant + nullary_costs(problem)
