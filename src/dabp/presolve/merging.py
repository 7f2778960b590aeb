"""Fold factors into each other: constants and unary costs added up, equal and nested scopes joined."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from dabp.kernels.presolve.table_sums import Additions, add_tables
from dabp.presolve.assembly import Factors, rebuilt, unary_factors
from dabp.problem import Problem
from dabp.problem.columns import (
    Indices,
    cell_strides,
    cells_of_tables,
    in_order,
    offsets_of,
    ragged_positions,
    row_keys,
    unary_costs,
)
from dabp.problem.facts import structural
from dabp.problem.validation import EXACT

MAX_UNSHARING = 4
"""Reductions may make the pool of tables this many times larger, as shared tables become different ones."""

MERGED_CELLS = 10_000_000
"""Merging may make tables of this many cells in all, whatever `MAX_UNSHARING`."""


def merge_factors(problem: Problem, *, folding: bool = True) -> Problem:
    """The same costs in as few factors as possible: at most one per scope, none nested in another's scope.

    Factors whose merged tables would be too large stay as they are. Factors of arity 0 and tables with one repeated
    cost are added to the constant; unary factors become one per variable with least cost 0 (none if all costs are 0)
    and are not merged into larger ones, which solvers rely on. Without `folding` a problem without equal or nested
    scopes is returned as it is, whatever its tables are.
    """
    target = _affordable(problem, merge_targets(problem))
    own = target == np.arange(problem.num_factors)
    unary = problem.arities == 1
    owners = problem.scope_variables[problem.scope_offsets[:-1][unary]]
    one_each = bool((np.diff(owners) > 0).all()) or np.unique(owners).size == len(owners)
    if own.all() and one_each and not folding:
        return problem
    lowest, highest = problem.facts.extremes
    flat = ((lowest == highest) & np.isfinite(lowest))[problem.factor_table]
    receives = np.zeros(problem.num_factors, dtype=bool)
    receives[target[~own]] = True
    folded = flat & own & ~receives & ~unary
    if own.all() and one_each and not folded.any() and not (flat & unary).any():
        return problem
    kept = np.flatnonzero(own & ~receives & ~folded & ~unary)
    costs, starts = unary_costs(problem)
    least = np.minimum.reduceat(costs, starts[:-1]) if len(costs) else costs
    if problem.facts.magnitude > EXACT / 4:  # differences could be inexact
        least[:] = 0.0
    least[~np.isfinite(least)] = 0.0
    costs -= np.repeat(least, problem.domain_sizes)
    constant = problem.constant + float(lowest[problem.factor_table[folded]].sum()) + float(least.sum())
    parts = [unary_factors(costs, starts)]
    if receives.any():
        parts.append(joined_factors(problem, target, np.flatnonzero(receives & own)))
    return rebuilt(problem, kept, tuple(parts), constant)


def _affordable(problem: Problem, target: Indices) -> Indices:
    """The targets without those whose tables would take too much memory, the smallest tables first."""
    roots = np.unique(target[target != np.arange(problem.num_factors)])
    lengths = np.diff(problem.pool_offsets)[problem.factor_table[roots]]
    order = np.argsort(lengths, kind="stable")
    most = max(MERGED_CELLS, MAX_UNSHARING * len(problem.pool))
    spared = np.zeros(problem.num_factors, dtype=bool)
    spared[roots[order[np.cumsum(lengths[order]) > most]]] = True
    return np.where(spared[target], np.arange(problem.num_factors), target)


def merge_targets(problem: Problem) -> Indices:
    """For each factor of arity 2 or more the factor that it is added to (itself if it stays), [F]."""
    target = np.arange(problem.num_factors)
    rows_of: dict[int, tuple[Indices, Indices]] = {}
    for group in problem.facts.arity_groups:
        arity = group.variables.shape[1]
        if arity < 2:
            continue
        if arity == 2 and pairs_differ(problem):
            rows_of[arity] = (group.factors, group.variables)
            continue
        rows = np.sort(group.variables, axis=1)
        first, inverse = np.unique(row_keys(rows, problem.num_variables), return_index=True, return_inverse=True)[1:]
        target[group.factors] = group.factors[first[inverse]]
        rows_of[arity] = (group.factors[first], rows[first])
    if 2 in rows_of and len(rows_of) > 1:
        rows_of[2] = (rows_of[2][0], np.sort(rows_of[2][1], axis=1))
    for small in sorted(rows_of):
        for large in sorted(rows_of):
            if large > small and comb(large, small) <= 128:
                _nest(target, rows_of[small], rows_of[large], problem.num_variables)
    while (target[target] != target).any():
        target = target[target]
    return target


def pairs_differ(problem: Problem) -> bool:
    """Whether no two binary factors have one scope; computed once for each structure."""
    return structural(problem, _pairs_differ)


def _pairs_differ(problem: Problem) -> bool:
    group = next((group for group in problem.facts.arity_groups if group.variables.shape[1] == 2), None)
    if group is None:
        return True
    first, second = group.variables.T
    ordered = in_order(np.minimum(first, second) * problem.num_variables + np.maximum(first, second))
    return bool((ordered[1:] != ordered[:-1]).all())


def _nest(target: Indices, small: tuple[Indices, Indices], large: tuple[Indices, Indices], base: int) -> None:
    """Set the target of each small factor without one to a large factor whose scope contains its own."""
    for columns in combinations(range(large[1].shape[1]), small[1].shape[1]):
        keys = row_keys(np.concatenate([small[1], large[1][:, columns]]), base)
        mine, theirs = keys[: len(small[1])], keys[len(small[1]) :]
        order = np.argsort(theirs, kind="stable")
        place = np.minimum(np.searchsorted(theirs[order], mine), len(theirs) - 1)
        found = (theirs[order][place] == mine) & (target[small[0]] == small[0])
        target[small[0][found]] = large[0][order[place[found]]]


def joined_factors(problem: Problem, target: Indices, roots: Indices) -> Factors:
    """The roots with the tables of all factors that they are the target of added."""
    sizes = problem.domain_sizes[problem.scope_variables]
    strides = cell_strides(problem)
    scope = ragged_positions(problem.scope_offsets, roots)
    lengths = np.diff(problem.pool_offsets)[problem.factor_table[roots]]
    cells = offsets_of(lengths)
    pool = cells_of_tables(problem, problem.factor_table[roots]).copy()
    place_of_root = np.zeros(problem.num_factors, dtype=np.int64)
    place_of_root[roots] = np.arange(len(roots))

    sources = np.flatnonzero((target != np.arange(problem.num_factors)) & (problem.arities >= 2))
    axes = ragged_positions(problem.scope_offsets, target[sources])
    job_of_axis = np.repeat(np.arange(len(sources)), problem.arities[target[sources]])
    # The stride of the source along each axis of its target: the axis's variable among those of the source.
    own = ragged_positions(problem.scope_offsets, sources)
    job_of_own = np.repeat(np.arange(len(sources)), problem.arities[sources])
    order = np.argsort(job_of_own * problem.num_variables + problem.scope_variables[own])
    own_keys = (job_of_own * problem.num_variables + problem.scope_variables[own])[order]
    axis_keys = job_of_axis * problem.num_variables + problem.scope_variables[axes]
    place = np.minimum(np.searchsorted(own_keys, axis_keys), len(own_keys) - 1)
    axis_strides = np.where(own_keys[place] == axis_keys, strides[own[order[place]]], 0)
    jobs = Additions(
        source_start=problem.pool_offsets[problem.factor_table[sources]],
        target_start=cells[place_of_root[target[sources]]],
        axis_start=offsets_of(problem.arities[target[sources]]),
        dims=sizes[axes],
        strides=axis_strides,
    )
    add_tables(problem.pool, jobs, pool)
    return Factors(problem.scope_variables[scope], offsets_of(problem.arities[roots]), pool, cells)
