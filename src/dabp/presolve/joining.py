"""Binary factors joined along cliques: fewer, larger factors with the same total, whose relaxation is tighter."""

from __future__ import annotations

import math

import numpy as np

from dabp.kernels.presolve.cliques import Edges, pack_cliques
from dabp.presolve.assembly import Factors, rebuilt
from dabp.presolve.merging import joined_factors
from dabp.problem import Problem
from dabp.problem.columns import offsets_of


def join_cliques(problem: Problem, largest: int, largest_table: int, max_cells: float = math.inf) -> Problem:
    """The same costs with binary factors added up in factors over cliques of 3 to `largest` variables.

    The minima of single factors give a weaker bound than the minimum of a clique's joint table. Each binary factor is
    added to one clique; joined tables have at most `largest_table` cells.

    Returns the problem itself if less than a tenth of the binary factors lies in cliques, if all tables together would
    have more than `max_cells` cells, or if two factors have one scope (which `merge_factors` only leaves where tables
    are too large).
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
    if count < 0 or joined.sum() < 0.1 * len(binary):
        return problem
    others = np.setdiff1d(np.arange(problem.num_factors), binary[joined])
    present = members[:count] >= 0
    cells = np.where(present, problem.domain_sizes[members[:count]], 1).prod(axis=1)
    used = np.unique(problem.factor_table[others])
    if np.diff(problem.pool_offsets)[used].sum() + cells.sum() > max_cells:
        return problem
    empty = Factors(members[:count][present], offsets_of(present.sum(axis=1)), np.zeros(cells.sum()), offsets_of(cells))
    extended = rebuilt(problem, np.arange(problem.num_factors), (empty,), problem.constant)
    del empty
    target = np.arange(extended.num_factors)
    target[binary[joined]] = problem.num_factors + clique_of_edge[joined]
    cliques = joined_factors(extended, target, np.arange(problem.num_factors, extended.num_factors))
    del extended  # large: at most two copies of the joined tables are in memory at a time
    return rebuilt(problem, others, (cliques,), problem.constant)
