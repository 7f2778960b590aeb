"""The best of two assignments, island by island: where they differ, connected parts can be chosen one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.graph.components import connected
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, offsets_of


def has_islands(problem: Problem) -> bool:
    """Whether good answers to a problem may differ on many small islands, which takes a sparse graph.

    False on problems with more than 400,000 scope entries, where finding islands takes long.
    """
    if problem.num_variables < 200 or len(problem.scope_variables) > 400_000:
        return False
    return int(np.maximum(problem.arities - 1, 0).sum()) <= 2.5 * problem.num_variables


def crossed(problem: Problem, first: Assignment, second: Assignment, *, ties: bool = False) -> Assignment:
    """The assignment of least cost that takes each island from one of both.

    Where it makes no difference from `first`, or from `second` with `ties`.

    Islands are the connected components of the variables on which both differ, two of them being connected where a
    factor has both. No factor has variables of two islands, so each may be chosen by its own factors' costs:

        Σ_f T_f(x) = Σ_{f without an island} T_f(first) + Σ_islands Σ_{f of it} T_f(first or second)

    The result costs at most as much as the better assignment.
    """
    differs = first != second
    variables = np.flatnonzero(differs)
    if len(variables) == 0:
        return first.copy()
    number = np.zeros(problem.num_variables, dtype=np.int64)
    number[variables] = np.arange(len(variables))
    entries = np.flatnonzero(differs[problem.scope_variables])
    starts = np.searchsorted(entries, problem.scope_offsets)
    touched = np.flatnonzero(np.diff(starts))
    scopes = number[problem.scope_variables[entries]]
    island, count = connected(len(variables), scopes, offsets_of(np.diff(starts)[touched]))
    of_factor = island[scopes[starts[:-1][touched]]]
    worse, better = (_totals(problem, values, touched, of_factor, count) for values in (first, second))
    no_worse = better[1] <= worse[1] if ties else better[1] < worse[1]
    taken = (better[0] < worse[0]) | ((better[0] == worse[0]) & no_worse)
    values = first.copy()
    chosen = variables[taken[island]]
    values[chosen] = second[chosen]
    return values


def _totals(
    problem: Problem, values: Assignment, factors: Indices, island: Indices, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """For each island the number of violated factors, and the sum of the costs of the others."""
    costs = problem.factor_costs(values)[factors]
    forbidden = np.isinf(costs)
    violated = np.bincount(island[forbidden], minlength=count).astype(np.int64)
    return violated, np.bincount(island, np.where(forbidden, 0.0, costs), minlength=count).astype(np.float64)
