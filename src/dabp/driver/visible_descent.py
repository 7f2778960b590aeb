"""A first answer where auxiliary variables are: a descent in the visible ones that takes the others along.

A search that moves one variable at a time is stuck where sums and counts are stated through partial sums: to change one
term all that follow it have to change. Here the auxiliary variables follow from the visible ones in every candidate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices
from dabp.problem.guard import Guard
from dabp.problem.randomness import generator

CANDIDATES, ROUNDS, PATIENCE = 256, 500, 12
"""Candidates that are looked at together, how often at most, and how often in a row without a better one."""

MOST_ENTRIES = 4_000_000
"""Entries of scopes that a look may read: with more, fewer candidates are looked at together."""

CONSTANTS = 16
"""Values that all variables are given alike to begin with."""

_STREAM = 0xF1257


def visible_descent(problem: Problem, guess: Assignment, held: Indices, guard: Guard) -> Assignment:
    """The best found from `guess` and from all variables at one value, by violations first, then by cost.

    A candidate differs from the best in one or two visible variables that are not `held`.
    """
    free = np.setdiff1d(np.flatnonzero(problem.domain_sizes[: problem.num_visible] > 1), held)
    values = np.arange(min(int(problem.domain_sizes.max(initial=1)), CONSTANTS))
    starts = np.repeat(guess[None], 1 + len(values), axis=0)
    starts[1:, free] = np.minimum(values[:, None], problem.domain_sizes[free] - 1)
    best, merit = _best(problem, starts)
    if not len(free):
        return best
    rng, failed = generator(0, _STREAM), 0
    rows = max(1, min(CANDIDATES, MOST_ENTRIES // max(1, len(problem.scope_variables))))
    patience = PATIENCE + -(-2 * int(problem.domain_sizes[free].sum()) // rows)
    for _ in range(ROUNDS):
        if guard.over or failed >= patience:
            break
        found, found_merit = _best(problem, _neighbours(problem, best, free, rows, rng))
        failed = 0 if found_merit < merit else failed + 1
        if found_merit <= merit:  # as good is as well: plateaus are crossed so
            best, merit = found, found_merit
    return best


def _neighbours(problem: Problem, best: Assignment, free: Indices, rows: int, rng: np.random.Generator) -> Indices:
    """Some assignments with another value of one variable, or of two."""
    result, every = np.repeat(best[None], rows, axis=0), np.arange(rows)
    for changed in (every, every[rows // 2 :]):
        variables = rng.choice(free, len(changed))
        shift = 1 + (rng.random(len(changed)) * (problem.domain_sizes[variables] - 1)).astype(np.int64)
        result[changed, variables] = (result[changed, variables] + shift) % problem.domain_sizes[variables]
    return result


def _best(problem: Problem, rows: Indices) -> tuple[Assignment, tuple[int, float]]:
    """The first of the best, completed, its violations and what it costs otherwise; less is better."""
    completed = problem.completed(rows)
    violations, costs = np.zeros(len(rows), dtype=np.int64), np.zeros(len(rows))
    for group in problem.arity_groups:
        cells = group.bases + (completed[:, group.variables] * group.strides).sum(axis=-1)
        paid: NDArray[np.float64] = problem.pool[cells]
        forbidden = np.isinf(paid)
        violations += forbidden.sum(axis=-1)
        costs += np.where(forbidden, 0.0, paid).sum(axis=-1)
    costs *= -1.0 if problem.maximize else 1.0
    chosen = int(np.lexsort((costs, violations))[0])
    return completed[chosen], (int(violations[chosen]), float(costs[chosen]))
