"""A problem's factors in the layout of `kernels.local_search.columns`: padded rows, each binary table both ways."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.columns import LANES, Costs, Edges, Hard, Neighbours, Rows, Wide
from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.guard import Guard
from dabp.solvers.local_search.units import Units
from dabp.solvers.stopped import ask


def compiled_costs(units: Units, guard: Guard) -> tuple[Costs, NDArray[np.bool_]]:
    """Everything the kernels read, and which places of the rows hold a value that no unary factor forbids, [R].

    The guard is asked between the parts, each of which takes time about linear in the problem.
    """
    rows, allowed = _rows(units)
    ask(guard)
    edges = _edges(units)
    ask(guard)
    wide, hard = _wide(units), _hard(units, edges)
    ask(guard)
    neighbours = units.problem.structural(_neighbours, bulky=True)
    return Costs(rows, edges, wide, hard, neighbours), allowed


def _rows(units: Units) -> tuple[Rows, NDArray[np.bool_]]:
    """Own costs of the values, and which may be taken."""
    problem = units.problem
    sizes = problem.domain_sizes
    widths = -(-sizes // LANES) * LANES
    starts = offsets_of(widths)[:-1]
    total = np.zeros(int(widths.sum()), dtype=np.int64)
    allowed = np.zeros(len(total), dtype=bool)
    allowed[_ranges(starts, sizes)] = True
    group = next((g for g in problem.arity_groups if g.variables.shape[1] == 1), None)
    if group is not None:
        lengths = sizes[group.variables[:, 0]]
        target, source = _ranges(starts[group.variables[:, 0]], lengths), _ranges(group.bases, lengths)
        np.add.at(total, target, units.cells[source])
        allowed[target[units.forbids[source]]] = False
    unary = np.where(allowed, total, units.pad).astype(units.dtype)
    return Rows(sizes, starts, widths, unary, units.pad, units.heaviest), allowed


def _edges(units: Units) -> Edges:
    """Binary factors, once from each end, sorted by the end they start at."""
    problem = units.problem
    group = next((g for g in problem.arity_groups if g.variables.shape[1] == 2), None)
    factors = np.zeros(0, dtype=np.int64) if group is None else group.factors
    pairs = np.zeros((0, 2), dtype=np.int64) if group is None else group.variables
    soft_pool, soft = _directed(problem, factors, pairs, units.cells, units.soft_factor)
    hard_pool, hard = _directed(problem, factors, pairs, units.forbids.astype(units.dtype), units.hard_factor)
    keep = (soft >= 0) | (hard >= 0)
    source = np.concatenate([pairs[:, 0], pairs[:, 1]])[keep]
    target = np.concatenate([pairs[:, 1], pairs[:, 0]])[keep]
    weight = np.tile(units.weight_of[factors], 2)[keep]
    order = np.argsort(source * problem.num_variables + target)
    return Edges(
        offsets=_grouped(source, problem.num_variables),
        target=target[order],
        soft_at=soft[keep][order],
        hard_at=hard[keep][order],
        weight=weight[order],
        soft=soft_pool,
        hard=hard_pool,
    )


def _directed(
    problem: Problem, factors: Indices, pairs: Indices, cells: NDArray[Any], present: NDArray[np.bool_]
) -> tuple[NDArray[Any], Indices]:
    """Padded tables for both directions of the present factors, and where each begins, [2 · F2] (−1 if absent).

    Factors that share a table share its padded copies.
    """
    sizes, tables = problem.domain_sizes, problem.factor_table[factors]
    bases = np.full((2, len(factors)), -1, dtype=np.int64)
    chosen = np.flatnonzero(present[factors])
    if not len(chosen):
        return np.zeros(0, dtype=cells.dtype), bases.ravel()
    parts: list[NDArray[Any]] = []
    length = 0
    kinds, kind_of = numbered(sizes, int(sizes.max(initial=0)) + 1)
    of_pair = kind_of[pairs[chosen]]
    shapes, shape_of = numbered(of_pair[:, 0] * len(kinds) + of_pair[:, 1], len(kinds) ** 2)
    for number, (rows, columns) in enumerate(kinds[np.column_stack(np.divmod(shapes, len(kinds)))].tolist()):
        members = chosen[shape_of == number]
        unique, which = numbered(tables[members], len(problem.pool_offsets))
        stack = cells[problem.pool_offsets[unique][:, None] + np.arange(rows * columns)].reshape(-1, rows, columns)
        for direction, block in enumerate((stack, stack.transpose(0, 2, 1))):
            height, width = block.shape[1:]
            padded = np.zeros((len(unique), height, -(-width // LANES) * LANES), dtype=cells.dtype)
            padded[:, :, :width] = block
            bases[direction, members] = length + which * padded[0].size
            parts.append(padded.ravel())
            length += padded.size
    pool = np.concatenate(parts) if parts else np.zeros(0, dtype=cells.dtype)
    return pool, bases.ravel()


def _wide(units: Units) -> Wide:
    """Factors of arity 3 or more as they are: scopes, strides and tables."""
    problem = units.problem
    groups = [g for g in problem.arity_groups if g.variables.shape[1] > 2]
    empty = np.zeros(0, dtype=np.int64)
    factors = _wide_factors(problem)
    variables = np.concatenate([empty, *(g.variables.ravel() for g in groups)])
    strides = np.concatenate([empty, *(g.strides.ravel() for g in groups)])
    bases = np.concatenate([empty, *(g.bases for g in groups)])
    arities = problem.arities[factors]
    owner = np.repeat(np.arange(len(factors)), arities)
    order = np.argsort(variables, kind="stable")
    forbids = units.forbids.astype(units.dtype)
    return Wide(
        offsets=_grouped(variables, problem.num_variables),
        factor=owner[order],
        stride=strides[order],
        scope_offsets=offsets_of(arities),
        scope_variable=variables,
        scope_stride=strides,
        soft_at=np.where(units.soft_factor[factors], bases, -1),
        hard_at=np.where(units.hard_factor[factors], bases, -1),
        weight=units.weight_of[factors],
        soft=units.cells if len(factors) else units.cells[:0],
        hard=forbids if len(factors) else forbids[:0],
    )


def _wide_factors(problem: Problem) -> Indices:
    """The factors of arity 3 or more, in the order of `Wide`."""
    groups = [g.factors for g in problem.arity_groups if g.variables.shape[1] > 2]
    return np.concatenate([np.zeros(0, dtype=np.int64), *groups])


def _hard(units: Units, edges: Edges) -> Hard:
    """The scopes of factors with a weight, and where their tables are found."""
    problem = units.problem
    factors = np.flatnonzero(units.weight_of >= 0)
    arities = problem.arities[factors]
    scope = problem.scope_variables[ragged_positions(problem.scope_offsets, factors)]
    edge = np.full(len(scope), -1, dtype=np.int64)
    source = np.repeat(np.arange(problem.num_variables), np.diff(edges.offsets))
    places = np.repeat(np.arange(len(factors)), arities)
    binary = np.repeat(arities == 2, arities)
    # An edge is known by its weight and where it starts; both sides sorted by that pair correspond.
    hard = np.flatnonzero(edges.weight >= 0)
    edge_order = hard[np.lexsort((source[hard], edges.weight[hard]))]
    scope_order = np.flatnonzero(binary)
    scope_order = scope_order[np.lexsort((scope[scope_order], places[scope_order]))]
    edge[scope_order] = edge_order
    wide = _wide_factors(problem)
    number = np.full(problem.num_factors, -1, dtype=np.int64)
    number[wide] = np.arange(len(wide))
    return Hard(offsets=offsets_of(arities), scope=scope, edge=edge, wide=number[factors])


def _neighbours(problem: Problem) -> Neighbours:
    """For each variable, those it shares a factor with, once each and in order."""
    keys = [np.zeros(0, dtype=np.int64)]
    count = problem.num_variables
    for group in problem.arity_groups:
        pairs = itertools.permutations(group.variables.T, 2)
        keys.extend(first * count + second for first, second in pairs)
    ordered = np.sort(np.concatenate(keys))
    unique = ordered[np.diff(ordered, prepend=-1) != 0]
    source = unique // max(count, 1)
    return Neighbours(_grouped(source, count), unique - source * count)


def numbered(values: Indices, bound: int) -> tuple[Indices, Indices]:
    """The different values, all below `bound`, in order, and which of them each is: `np.unique` without sorting."""
    used = np.zeros(bound, dtype=bool)
    used[values] = True
    return np.flatnonzero(used), (np.cumsum(used) - 1)[values]


def _ranges(starts: Indices, lengths: Indices) -> Indices:
    """``starts[0] … starts[0] + lengths[0] − 1, starts[1] …`` in one array."""
    before = offsets_of(lengths)
    return np.repeat(starts - before[:-1], lengths) + np.arange(before[-1])


def _grouped(owner: Indices, count: int) -> Indices:
    """Where each owner's entries begin once sorted by owner, [count + 1]."""
    return offsets_of(np.bincount(owner, minlength=count))
