"""A problem's factors in the layout of `search_arrays`: padded rows, and each table of two variables both ways."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.graph.grouping import grouped
from dabp.kernels.atomics import zeros_apart
from dabp.kernels.local_search.search_arrays import LANES, Costs, Edges, Hard, Neighbours, Rows, Wide
from dabp.problem import Problem
from dabp.problem.columns import Indices, add_at, cell_strides, cells_of_tables, distinct, offsets_of, ragged_positions
from dabp.problem.facts import structural
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.cost_units import Units
from dabp.solvers.stopped import ask

BLOCK = 2**18
"""Costs of tables that are laid out at a time."""


def compiled_costs(units: Units, guard: Guard) -> tuple[Costs, NDArray[np.bool_]]:
    """Everything the kernels read, and which places of the rows hold a value that no unary factor forbids, [R].

    The guard is asked between the parts, each of which takes time about linear in the problem.
    """
    rows, allowed = _rows(units)
    ask(guard)
    edges = _edges(units)
    ask(guard)
    wide, hard = _wide(units), _hard(units)
    ask(guard)
    neighbours = _same_neighbours(units.problem, edges) or structural(units.problem, _neighbours, bulky=True)
    return Costs(rows, edges, wide, hard, neighbours), allowed


def _rows(units: Units) -> tuple[Rows, NDArray[np.bool_]]:
    """Own costs of the values, and which may be taken."""
    problem = units.problem
    sizes = problem.domain_sizes
    widths = -(-sizes // LANES) * LANES
    starts = offsets_of(widths)[:-1]
    unary = np.zeros(int(widths.sum()), dtype=units.dtype)
    allowed = np.zeros(len(unary), dtype=bool)
    if len(sizes) and (sizes == sizes[0]).all():
        allowed.reshape(len(sizes), -1)[:, : sizes[0]] = True
    else:
        allowed[_ranges(starts, sizes)] = True
    factors = np.flatnonzero(problem.arities == 1)
    own = problem.scope_variables[problem.scope_offsets[factors]]
    target = _ranges(starts[own], sizes[own])
    costs = problem.pool[_ranges(problem.pool_offsets[problem.factor_table[factors]], sizes[own])]
    add_at(unary, target, units.rounded(costs))
    allowed[target[np.isinf(costs)]] = False
    unary[~allowed] = units.pad
    uniform = int(widths[0]) if len(widths) and (widths == widths[0]).all() else 0
    return Rows(sizes, starts, widths, unary, units.pad, units.heaviest, uniform), allowed


def _edges(units: Units) -> Edges:
    """Binary factors, once from each end, sorted by the end they start at."""
    problem = units.problem
    factors = np.flatnonzero(problem.arities == 2)
    pairs = problem.scope_variables[ragged_positions(problem.scope_offsets, factors)].reshape(-1, 2)
    soft_pool, soft = _directed(units, factors, pairs, units.rounded, units.soft_factor)
    hard_pool, hard = _directed(units, factors, pairs, np.isinf, units.hard_factor)
    kept = np.flatnonzero((soft >= 0) | (hard >= 0))
    by_target, _ = grouped(pairs[:, ::-1].T.ravel()[kept], problem.num_variables)
    kept = kept[by_target]
    by_source, offsets = grouped(pairs.T.ravel()[kept], problem.num_variables)
    kept = kept[by_source]
    target, weight = pairs[:, ::-1].T.ravel()[kept], np.tile(units.weight_of[factors], 2)[kept]
    return Edges(offsets, target, soft[kept], hard[kept], weight, soft_pool, hard_pool)


def _directed(
    units: Units,
    factors: Indices,
    pairs: Indices,
    of_costs: Callable[[NDArray[np.float64]], NDArray[Any]],
    present: NDArray[np.bool_],
) -> tuple[NDArray[Any], Indices]:
    """Padded tables for both directions of the present factors, and where each begins, [2 · F2] (−1 if absent).

    Factors that share a table share its padded copies. `of_costs` makes the numbers of the tables of their costs.
    """
    problem = units.problem
    bases = np.empty((2, len(factors)), dtype=np.int64)
    mine = present[factors]
    if not mine.all():
        bases[:] = -1
    if not mine.any():
        return np.zeros(0, dtype=units.table_dtype), bases.ravel()
    stacks: list[tuple[Indices, int, int]] = []
    length = 0
    for rows, columns, members in _by_shape(problem.domain_sizes, pairs, mine):
        unique, which = numbered(problem.factor_table[factors[members]], len(problem.pool_offsets) - 1)
        stacks.append((unique, rows, columns))
        for direction, cells in enumerate((rows * _padded(columns), columns * _padded(rows))):
            bases[direction, members] = length + which * cells
            length += cells * len(unique)
    pool, end = zeros_apart(length, units.table_dtype), 0
    for unique, rows, columns in stacks:
        there, back = rows * _padded(columns) * len(unique), columns * _padded(rows) * len(unique)
        forwards = pool[end : end + there].reshape(-1, rows, _padded(columns))[:, :, :columns]
        backwards = pool[end + there : end + there + back].reshape(-1, columns, _padded(rows))[:, :, :rows]
        block = max(1, BLOCK // (rows * columns))
        for start in range(0, len(unique), block):
            costs = cells_of_tables(problem, unique[start : start + block])
            numbers = of_costs(costs.reshape(-1, rows, columns))
            forwards[start : start + block] = numbers
            backwards[start : start + block] = numbers.transpose(0, 2, 1)
        end += there + back
    return pool, bases.ravel()


def _by_shape(sizes: Indices, pairs: Indices, present: NDArray[np.bool_]) -> Iterator[tuple[int, int, Indices | slice]]:
    """The numbers of values of the first and of the second variable, and the factors present that have them."""
    if (sizes == sizes[0]).all():
        yield int(sizes[0]), int(sizes[0]), slice(None) if present.all() else np.flatnonzero(present)
        return
    chosen = np.flatnonzero(present)
    kinds, kind_of = numbered(sizes, int(sizes.max(initial=0)) + 1)
    of_pair = kind_of[pairs[chosen]]
    shapes, shape_of = numbered(of_pair[:, 0] * len(kinds) + of_pair[:, 1], len(kinds) ** 2)
    for number, (rows, columns) in enumerate(kinds[np.column_stack(np.divmod(shapes, len(kinds)))].tolist()):
        yield rows, columns, chosen[shape_of == number]


def _padded(size: int) -> int:
    """A row's length in whole vectors."""
    return -(-size // LANES) * LANES


def _wide(units: Units) -> Wide:
    """Factors of arity 3 or more as they are: scopes, strides and tables."""
    problem = units.problem
    factors = np.flatnonzero(problem.arities > 2)
    entries = ragged_positions(problem.scope_offsets, factors)
    variables, strides = problem.scope_variables[entries], cell_strides(problem)[entries]
    bases = problem.pool_offsets[problem.factor_table[factors]]
    order, offsets = grouped(variables, problem.num_variables)
    return Wide(
        offsets=offsets,
        factor=np.repeat(np.arange(len(factors)), problem.arities[factors])[order],
        stride=strides[order],
        scope_offsets=offsets_of(problem.arities[factors]),
        scope_variable=variables,
        scope_stride=strides,
        soft_at=np.where(units.soft_factor[factors], bases, -1),
        hard_at=np.where(units.hard_factor[factors], bases, -1),
        weight=units.weight_of[factors],
        soft=units.cells if len(factors) else np.zeros(0, dtype=units.dtype),
        hard=units.forbids.astype(units.dtype) if len(factors) else np.zeros(0, dtype=units.dtype),
    )


def _hard(units: Units) -> Hard:
    """The scopes of factors with a weight, and which wide factors they are."""
    problem = units.problem
    factors, wide = np.flatnonzero(units.weight_of >= 0), problem.arities > 2
    scope = problem.scope_variables[ragged_positions(problem.scope_offsets, factors)]
    number = np.where(wide, np.cumsum(wide) - 1, -1)[factors]
    return Hard(offsets=offsets_of(problem.arities[factors]), scope=scope, wide=number)


def _neighbours(problem: Problem) -> Neighbours:
    """For each variable, those it shares a factor with, once each and in order."""
    keys = [np.zeros(0, dtype=np.int64)]
    count = problem.num_variables
    for group in problem.facts.arity_groups:
        pairs = itertools.permutations(group.variables.T, 2)
        keys.extend(first * count + second for first, second in pairs)
    unique = distinct(np.concatenate(keys))
    source = unique // max(count, 1)
    return Neighbours(offsets_of(np.bincount(source, minlength=count)), unique - source * count)


def _same_neighbours(problem: Problem, edges: Edges) -> Neighbours | None:
    """The ends of edges, where every factor has two variables and is an edge: they are in order already."""
    if len(edges.target) != len(problem.scope_variables) - np.count_nonzero(problem.arities == 1):
        return None
    if len(edges.target) != 2 * np.count_nonzero(problem.arities == 2):
        return None
    other = np.ones(len(edges.target) + 1, dtype=bool)
    np.not_equal(edges.target[1:], edges.target[:-1], out=other[1:-1])
    other[edges.offsets] = True
    other = other[:-1]
    if other.all():
        return Neighbours(edges.offsets, edges.target)
    source = np.repeat(np.arange(problem.num_variables), np.diff(edges.offsets))
    return Neighbours(offsets_of(np.bincount(source[other], minlength=problem.num_variables)), edges.target[other])


def numbered(values: Indices, bound: int) -> tuple[Indices, Indices]:
    """The different values, all below `bound`, in order, and which of them each is: `np.unique` without sorting."""
    used = np.zeros(bound, dtype=bool)
    used[values] = True
    if used.all():
        return np.arange(bound), values
    return np.flatnonzero(used), (np.cumsum(used) - 1)[values]


def _ranges(starts: Indices, lengths: Indices) -> Indices:
    """``starts[0] … starts[0] + lengths[0] − 1, starts[1] …`` in one array."""
    before = offsets_of(lengths)
    return np.repeat(starts - before[:-1], lengths) + np.arange(before[-1])
