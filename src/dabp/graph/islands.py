"""The best of two assignments, island by island: where they differ, connected parts can be chosen one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.graph.components import connected
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, offsets_of

FEW, SPARSE, LARGEST = 200, 2.5, 400_000
"""Variables from which on two answers may differ on many islands, links between variables for each of them up to which
these are small, and entries of scopes up to which it takes no time worth speaking of to find them."""


def has_islands(problem: Problem) -> bool:
    """Whether good answers to a problem may differ on many small islands: on dense graphs all is one."""
    if problem.num_variables < FEW or len(problem.scope_variables) > LARGEST:
        return False
    return int(np.maximum(problem.arities - 1, 0).sum()) <= SPARSE * problem.num_variables


def crossed(problem: Problem, first: Assignment, second: Assignment) -> Assignment:
    """The assignment of least cost that takes each island from one of both; from `first` where it makes no difference.

    Islands are the connected components of the variables on which both differ, two of them being connected where a
    factor has both. No factor has variables of two islands, so each may be chosen by its own factors' costs:

        Σ_f T_f(x) = Σ_{f without an island} T_f(first) + Σ_islands Σ_{f of it} T_f(first or second)

    Nothing is lost against either assignment, and on sparse graphs, where independent answers differ on many small
    islands, much is won.
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
    taken = (better[0] < worse[0]) | ((better[0] == worse[0]) & (better[1] < worse[1]))
    values = first.copy()
    chosen = variables[taken[island]]
    values[chosen] = second[chosen]
    return values


def _totals(
    problem: Problem, values: Assignment, factors: Indices, island: Indices, count: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Of each island's factors: how many are violated, and the sum of the other costs."""
    costs = problem.factor_costs(values)[factors]
    forbidden = np.isinf(costs)
    violated = np.bincount(island[forbidden], minlength=count).astype(np.int64)
    return violated, np.bincount(island, np.where(forbidden, 0.0, costs), minlength=count).astype(np.float64)
