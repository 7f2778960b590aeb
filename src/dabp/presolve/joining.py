"""Binary factors joined along cliques: fewer, larger factors with the same total, whose relaxation is tighter."""

from __future__ import annotations

import numpy as np

from dabp.kernels.cliques import pack_cliques
from dabp.presolve.assembly import Factors, Indices, offsets_of, rebuilt
from dabp.presolve.merging import joined_factors
from dabp.problem import Problem

WORTHWHILE = 0.1
"""Nothing is joined if less than this part of the binary factors lies in cliques."""


def join_cliques(problem: Problem, largest: int, max_cells: int) -> Problem:
    """The same costs with binary factors added up in factors over cliques of 3 to `largest` variables.

    A bound from the minima of single factors misses what a cycle forbids; the minimum of a clique's joint table
    does not. Each binary factor goes to one clique, tables have at most `max_cells` cells. There must be no two
    factors of one scope (`merge_factors` sees to that).
    """
    binary = np.flatnonzero(problem.arities == 2)
    if not len(binary):
        return problem
    scopes = problem.scope_variables[problem.scope_offsets[binary][:, None] + np.arange(2)]
    ends = np.concatenate([scopes, scopes[:, ::-1]])
    order = np.lexsort((ends[:, 1], ends[:, 0]))
    members = np.full((len(binary), largest), -1, dtype=np.int64)
    clique_of_edge = np.empty(len(binary), dtype=np.int64)
    count = pack_cliques(
        problem.domain_sizes,
        offsets_of(np.bincount(ends[:, 0], minlength=problem.num_variables)),
        ends[order, 1],
        np.tile(np.arange(len(binary)), 2)[order],
        scopes[:, 0].copy(),
        scopes[:, 1].copy(),
        largest,
        float(max_cells),
        members,
        clique_of_edge,
    )
    inside = binary[clique_of_edge >= 0]
    if len(inside) < WORTHWHILE * len(binary):
        return problem
    both = rebuilt(problem, inside, (_empty_factors(problem, members[:count]),), 0.0)
    cliques = len(inside) + np.arange(count)
    target = np.concatenate([len(inside) + clique_of_edge[clique_of_edge >= 0], cliques])
    others = np.setdiff1d(np.arange(problem.num_factors), inside)
    return rebuilt(problem, others, (joined_factors(both, target, cliques),), problem.constant)


def _empty_factors(problem: Problem, members: Indices) -> Factors:
    """A factor of zeros for each row of variables (−1 = none)."""
    present = members >= 0
    sizes = np.where(present, problem.domain_sizes[np.where(present, members, 0)], 1)
    cells = offsets_of(sizes.prod(axis=1))
    return Factors(members[present], offsets_of(present.sum(axis=1)), np.zeros(cells[-1]), cells)
