"""A bound on the total cost, as some files state one: what it excludes for certain becomes forbidden."""

from __future__ import annotations

import numpy as np

from dabp.problem import Problem


def below(problem: Problem, bound: float) -> Problem:
    """The problem with each cost forbidden that no total strictly better than `bound` can contain.

    A cell of a table counts as excluded if it reaches the bound even with every other factor at its best; a problem
    whose best conceivable total reaches the bound has no feasible assignment left.
    """
    if not np.isfinite(bound) or not len(problem.pool):
        return problem
    sign = -1.0 if problem.maximize else 1.0
    costs, limit = sign * problem.pool, sign * bound
    lengths = np.diff(problem.pool_offsets)
    least = np.zeros(len(lengths))
    least[lengths > 0] = np.minimum.reduceat(costs, problem.pool_offsets[:-1][lengths > 0])
    least[~np.isfinite(least)] = 0.0
    best = sign * problem.constant + least[problem.factor_table].sum()
    # Sums of rounded decimals may miss the bound by a few units in the last place; those stay allowed.
    slack = 1e-9 * max(1.0, abs(limit))
    excluded = best + (costs - np.repeat(least, lengths)) >= limit + (0 if problem.integral else slack)
    excluded &= np.isfinite(costs)
    return problem.replace(pool=np.where(excluded, problem.forbidden, problem.pool)) if excluded.any() else problem
