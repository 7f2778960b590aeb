"""Variable elimination in NumPy, for problems that are solved sooner than Numba is loaded."""

from __future__ import annotations

import itertools
import math

import numpy as np

from dabp.problem import Assignment, Problem

MOST_CELLS = 2**17
"""Costs of the largest table that elimination makes; all together have twice as many: a few milliseconds."""


def cheap_order(problem: Problem) -> list[int] | None:
    """An order of the variables in which elimination is cheap and exact; None if there is none.

    Sums are exact if costs are integers and no total exceeds what floats count. The next variable is the one whose
    table is the smallest.
    """
    sizes = problem.domain_sizes.tolist()
    # NumPy's arrays have not many more axes than 30, and more factors take more than a few milliseconds.
    if not 0 < len(sizes) <= 30 or problem.num_factors > 2**11 or problem.limit is not None:
        return None
    if not problem.facts.integral:
        return None
    joined: dict[int, set[int]] = {variable: {variable} for variable in range(len(sizes))}
    for number in range(problem.num_factors):
        for a, b in itertools.permutations(problem.scope(number).tolist(), 2):
            joined[a].add(b)
    order, cells = [], 0
    while joined:
        table, variable = min((math.prod(sizes[u] for u in scope), v) for v, scope in joined.items())
        cells += table
        if table > MOST_CELLS or cells > 2 * MOST_CELLS:
            return None
        order.append(variable)
        scope = joined.pop(variable)
        for other in scope - {variable}:
            joined[other] = (joined[other] | scope) - {variable}
    return order


class Eliminated:
    """A minimisation solved by eliminating its variables in a cheap order: a `Reduction` to no variables at all.

    Attributes
    ----------
    problem
        Without variables, its constant the least cost; if `infeasible`, only a stand-in.
    """

    def __init__(self, problem: Problem, order: list[int]):
        sizes = problem.domain_sizes.tolist()
        functions = []
        for number in range(problem.num_factors):
            axes = np.argsort(problem.scope(number))
            functions.append((problem.scope(number)[axes].tolist(), problem.table(number).transpose(axes)))
        steps = []
        self._cells = 0
        for variable in order:
            bucket = [function for function in functions if variable in function[0]]
            scope = sorted({variable}.union(*(scope for scope, _ in bucket)))
            total = np.zeros([sizes[v] for v in scope])
            for part, table in bucket:
                total += table.reshape([sizes[v] if v in part else 1 for v in scope])
            axis = scope.index(variable)
            others = [v for v in scope if v != variable]
            functions = [function for function in functions if variable not in function[0]]
            functions.append((others, total.min(axis)))
            steps.append((variable, others, total.argmin(axis)))
            self._cells += total.size
        least = problem.constant + sum(float(table) for _, table in functions)
        self._values = np.zeros(len(sizes), dtype=np.int64)
        for variable, others, choice in reversed(steps):
            self._values[variable] = choice[tuple(self._values[others])]
        self.infeasible = least == np.inf
        self.problem = problem if self.infeasible else Problem.from_tables([], [], constant=least)
        self._sizes = problem.num_variables, problem.num_factors

    @property
    def summary(self) -> tuple[str, ...]:
        """What was done, for the notes of a solve."""
        if self.infeasible:
            return ("presolve proved that there is no feasible assignment",)
        variables, factors = self._sizes
        plural = "" if variables == 1 else "s"
        return (
            f"presolve: {variables:,} → 0 variables, {factors:,} → 0 factors "
            f"({variables:,} variable{plural} eliminated, {self._cells:,} costs compared)",
        )

    def lift(self, assignment: Assignment) -> Assignment:
        """The best assignment of the original problem."""
        return self._values

    def project(self, assignment: Assignment) -> Assignment:
        """An assignment of no variables."""
        return np.zeros(0, dtype=np.int64)
