"""All assignments of a tiny problem compared at once: exact, and in less time than it takes to load anything better."""

from __future__ import annotations

import math

import numpy as np

from dabp.problem import Assignment, Problem

MOST_ASSIGNMENTS = 2**17
MOST_SUMS = 2**23
"""Additions, a few hundredths of a second."""
MOST_VARIABLES = 30
"""NumPy's arrays have not many more axes."""


def few_assignments(problem: Problem) -> bool:
    """Whether they can all be looked at, and are told apart exactly: costs are integers, and every sum of them is."""
    sizes = problem.domain_sizes
    if not 0 < len(sizes) <= MOST_VARIABLES or problem.limit is not None:
        return False
    count = math.prod(sizes.tolist())
    if count > MOST_ASSIGNMENTS or count * problem.num_factors > MOST_SUMS:
        return False
    return problem.integral and problem.magnitude < 2.0**53


class Enumerated:
    """A minimisation of few assignments, solved: a `Reduction` to no variables at all.

    Attributes
    ----------
    problem
        Without variables, its constant the least cost; if `infeasible`, only a stand-in.
    """

    def __init__(self, problem: Problem):
        sizes = problem.domain_sizes
        costs = np.full(sizes, problem.constant)
        for number in range(problem.num_factors):
            scope = problem.scope(number)
            order = np.argsort(scope)
            shape = np.ones(len(sizes), dtype=np.int64)
            shape[scope] = sizes[scope]
            costs += problem.table(number).transpose(order).reshape(shape)
        best = int(np.argmin(costs))
        self._values = np.array(np.unravel_index(best, costs.shape), dtype=np.int64)
        least = float(costs.flat[best])
        self.infeasible = least == np.inf
        self.problem = problem if self.infeasible else Problem.from_tables([], [], constant=least)
        self._sizes = len(sizes), problem.num_factors, costs.size

    @property
    def summary(self) -> tuple[str, ...]:
        """What was done, for the notes of a solve."""
        if self.infeasible:
            return ("presolve proved that there is no feasible assignment",)
        variables, factors, count = self._sizes
        return (f"presolve: {variables:,} → 0 variables, {factors:,} → 0 factors ({count:,} assignments compared)",)

    def lift(self, assignment: Assignment) -> Assignment:
        """The best assignment."""
        return self._values

    def project(self, assignment: Assignment) -> Assignment:
        """Nothing is left of it."""
        return np.zeros(0, dtype=np.int64)
