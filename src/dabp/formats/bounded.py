"""A bound on the total, as some files state one: the problem's limit; what it surely excludes is forbidden."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.problem import Problem

_BLOCK = 2**20  # cells looked at in one go, which bounds the temporary arrays


def below(problem: Problem, bound: float) -> Problem:
    """The problem limited to totals strictly better than `bound`, and each cost forbidden that none of them contains.

    A cell of a table counts as excluded if it reaches the bound even with every other factor at its best; a problem
    whose best conceivable total reaches the bound has no feasible assignment left.
    """
    if not np.isfinite(bound):
        return problem
    sign = -1.0 if problem.maximize else 1.0
    lengths = np.diff(problem.pool_offsets)
    least = sign * problem.facts.per_table(np.maximum if problem.maximize else np.minimum)
    least[np.isinf(least)] = 0.0
    best = sign * problem.constant + least[problem.factor_table].sum()
    # Sums of rounded decimals may miss the bound by a few units in the last place; those stay allowed.
    slack = 0.0 if problem.facts.integral else problem.facts.rounding(bound)
    limit = sign * bound + slack - best + least  # [T], the least excluded cost of each table
    worst = np.zeros(len(lengths))  # [T], the largest finite cost that stays
    pool = None
    first = 0
    while first < len(lengths):
        last = max(
            first + 1, int(np.searchsorted(problem.pool_offsets, problem.pool_offsets[first] + _BLOCK, "right")) - 1
        )
        part = slice(problem.pool_offsets[first], problem.pool_offsets[last])
        costs = sign * problem.pool[part]
        excluded = np.isfinite(costs) & (costs >= np.repeat(limit[first:last], lengths[first:last]))
        if excluded.any():
            pool = problem.pool.copy() if pool is None else pool
            pool[part][excluded] = problem.facts.forbidden
            costs = np.where(excluded, np.inf, costs)
        filled = lengths[first:last] > 0
        if filled.any():
            starts = (problem.pool_offsets[first:last] - problem.pool_offsets[first])[filled]
            kept = np.maximum.reduceat(np.where(np.isfinite(costs), costs, -np.inf), starts)
            worst[first:last][filled] = np.where(np.isfinite(kept), kept, 0.0)
        first = last
    changes: dict[str, Any] = {} if pool is None else {"pool": pool}
    if sign * problem.constant + worst[problem.factor_table].sum() >= sign * bound - slack:
        changes["limit"] = bound  # without it some finite total would be taken that the file excludes
    return problem.replace(statements=problem.auxiliaries.statements, **changes) if changes else problem
