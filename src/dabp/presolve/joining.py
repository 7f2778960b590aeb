"""Binary factors joined along cliques: fewer, larger factors with the same total, whose relaxation is tighter."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.cliques import Edges, pack_cliques
from dabp.kernels.presolve.tables import Additions, add_tables
from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions

WORTHWHILE = 0.1
"""Nothing is joined if less than this part of the binary factors lies in cliques."""


def join_cliques(problem: Problem, largest: int, largest_table: int, max_cells: float = math.inf) -> Problem:
    """The same costs with binary factors added up in factors over cliques of 3 to `largest` variables.

    A bound from the minima of single factors misses what a cycle forbids; the minimum of a clique's joint table
    does not. Each binary factor goes to one clique, joined tables have at most `largest_table` cells.

    The problem itself comes back if joining is not worthwhile, if all tables together would have more than
    `max_cells` cells, which is known before any of them is made, or if two factors have one scope (which
    `merge_factors` only leaves where tables are too large anyway).
    """
    binary = np.flatnonzero(problem.arities == 2)
    if not len(binary):
        return problem
    scopes = problem.scope_variables[problem.scope_offsets[binary][:, None] + np.arange(2)]
    ends = np.concatenate([scopes, scopes[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    if (np.diff(ends[order], axis=0) == 0).all(axis=1).any():
        return problem
    members = np.full((len(binary), largest), -1, dtype=np.int64)
    clique_of_edge = np.empty(len(binary), dtype=np.int64)
    edges = Edges(
        first=scopes[:, 0].copy(),
        second=scopes[:, 1].copy(),
        neighbour_start=offsets_of(np.bincount(ends[:, 0], minlength=problem.num_variables)),
        neighbours=ends[order, 1],
        neighbour_edge=np.tile(np.arange(len(binary)), 2)[order],
    )
    count = pack_cliques(problem.domain_sizes, edges, float(largest_table), float(max_cells), members, clique_of_edge)
    joined = clique_of_edge >= 0
    if count < 0 or joined.sum() < WORTHWHILE * len(binary):
        return problem
    others = np.setdiff1d(np.arange(problem.num_factors), binary[joined])
    used, table = np.unique(problem.factor_table[others], return_inverse=True)
    members = members[:count]
    sizes = np.where(members >= 0, problem.domain_sizes[members], 1)
    pool_offsets = offsets_of(np.concatenate([np.diff(problem.pool_offsets)[used], sizes.prod(axis=1)]))
    if pool_offsets[-1] > max_cells:
        return problem
    pool = np.zeros(pool_offsets[-1])
    pool[: pool_offsets[len(used)]] = problem.pool[ragged_positions(problem.pool_offsets, used)]
    clique = clique_of_edge[joined]
    _add_edges(problem, binary[joined], members[clique], pool, pool_offsets[len(used) + clique])
    pool.flags.writeable = False  # so that the problem takes it without a copy
    arities = np.concatenate([problem.arities[others], (members >= 0).sum(axis=1)])
    kept_scopes = problem.scope_variables[ragged_positions(problem.scope_offsets, others)]
    return problem.replace(
        scope_variables=np.concatenate([kept_scopes, members[members >= 0]]),
        scope_offsets=offsets_of(arities),
        pool=pool,
        pool_offsets=pool_offsets,
        factor_table=np.concatenate([table, len(used) + np.arange(count)]),
        factor_names=None,
    )


def _add_edges(
    problem: Problem, edges: Indices, axes: Indices, pool: NDArray[np.float64], pool_starts: Indices
) -> None:
    """Add each binary factor to a table over the variables in its row of `axes` (−1 = none), which starts there."""
    present = axes >= 0
    scopes = problem.scope_variables[problem.scope_offsets[edges][:, None] + np.arange(2)]
    # A step along an axis moves a row of the factor's table if it is its first variable, a cell if its second.
    strides = (axes == scopes[:, :1]) * problem.domain_sizes[scopes[:, 1:]] + (axes == scopes[:, 1:])
    jobs = Additions(
        source_start=problem.pool_offsets[problem.factor_table[edges]],
        target_start=pool_starts,
        axis_start=offsets_of(present.sum(axis=1)),
        dims=problem.domain_sizes[axes[present]],
        strides=strides[present],
    )
    add_tables(problem.pool, jobs, pool)
