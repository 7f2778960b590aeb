"""Rule: remove variables that are a function of another, by a factor that allows one value for each value of the other.

Two frequencies a fixed distance apart, a channel and its return, a variable and its copy: no search that changes one
variable at a time gets past such a factor.
"""

from __future__ import annotations

import numpy as np

from dabp.presolve.assembly import Factors, rebuilt, with_variables
from dabp.presolve.effort import Efforts
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, offsets_of

MAX_FACTORS = 20_000
"""The most factors that are rewritten."""

MAX_CELLS = 20_000_000
"""The most cells of these."""


def following_variables(problem: Problem, efforts: Efforts) -> Identified | None:
    """The problem without the variables that follow from others; chains need several calls."""
    identified = Identified(problem)
    return identified if identified.removed else None


class Identified:
    """A problem without unsupported values, without the variables that follow from others.

    If none follows, `removed` is 0 and `problem` is the given one.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self._total = problem.num_variables
        pairs = _bijections(problem)
        touched = np.zeros(self._total, dtype=bool)
        touched[list(pairs)] = True
        owner = np.repeat(np.arange(problem.num_factors), problem.arities)
        changed = np.unique(owner[touched[problem.scope_variables]])
        cells = int(np.diff(problem.pool_offsets)[problem.factor_table[changed]].sum())
        if len(changed) > MAX_FACTORS or cells > MAX_CELLS:
            pairs, touched = {}, np.zeros_like(touched)
        self.removed = len(pairs)
        self._pairs = pairs
        self.variables: Indices = np.flatnonzero(~touched)
        if pairs:
            self.problem = self._without(problem, changed)

    def lift(self, assignment: Assignment) -> Assignment:
        """Add the variables that follow."""
        values = np.zeros(self._total, dtype=np.int64)
        values[self.variables] = assignment
        for variable, (other, partner) in self._pairs.items():
            values[variable] = partner.argsort()[values[other]]
        return values

    def project(self, assignment: Assignment) -> Assignment:
        """Drop the variables that follow."""
        return np.asarray(assignment, dtype=np.int64)[self.variables]

    def _without(self, problem: Problem, changed: Indices) -> Problem:
        scopes, tables = [], []
        for factor in changed.tolist():
            scope, table = self._renamed(problem, factor)
            scopes.append(scope)
            tables.append(table)
        added = Factors(
            np.array([variable for scope in scopes for variable in scope], dtype=np.int64),
            offsets_of(np.array([len(scope) for scope in scopes])),
            np.concatenate([table.ravel() for table in tables]),
            offsets_of(np.array([table.size for table in tables])),
        )
        kept = np.setdiff1d(np.arange(problem.num_factors), changed)
        return with_variables(rebuilt(problem, kept, (added,), problem.constant), self.variables)

    def _renamed(self, problem: Problem, factor: int) -> tuple[list[int], np.ndarray]:
        """A factor with each variable that follows replaced by the one it follows from."""
        scope = problem.scope(factor).tolist()
        table = problem.cells(factor).reshape(problem.domain_sizes[scope])
        for variable in list(scope):
            if variable not in self._pairs:
                continue
            other, partner = self._pairs[variable]
            axis = scope.index(variable)
            table = np.take(table, partner.argsort(), axis=axis)  # now by the values of the other
            if other in scope:
                table = np.diagonal(table, axis1=scope.index(other), axis2=axis)
                scope = [*(v for v in scope if v not in (variable, other)), other]
            else:
                scope[axis] = other
        return scope, np.ascontiguousarray(table)


def _bijections(problem: Problem) -> dict[int, tuple[int, Indices]]:
    """For each variable that follows, the variable it follows from and the value of that one for each of its values.

    No variable both follows and is followed, and none follows from two.
    """
    sizes = problem.domain_sizes
    group = next((group for group in problem.facts.arity_groups if group.variables.shape[1] == 2), None)
    found: dict[int, tuple[int, Indices]] = {}
    if group is None or np.isfinite(problem.pool).all():
        return found
    used: set[int] = set()
    square = sizes[group.variables[:, 0]] == sizes[group.variables[:, 1]]
    # All but one cell of each row is forbidden: counted for each table before any is looked at.
    finite = np.add.reduceat(np.isfinite(problem.pool), problem.pool_offsets[:-1], dtype=np.int64)
    few = finite[problem.factor_table[group.factors]] == sizes[group.variables[:, 0]]
    for place in np.flatnonzero(square & few & (sizes[group.variables[:, 0]] > 1)).tolist():
        first, second = group.variables[place].tolist()
        if first == second or {first, second} & used:
            continue
        allowed = np.isfinite(problem.cells(int(group.factors[place])).reshape(sizes[first], sizes[second]))
        if (allowed.sum(axis=0) == 1).all() and (allowed.sum(axis=1) == 1).all():
            found[second] = (first, np.asarray(allowed.argmax(axis=0), dtype=np.int64))
            used |= {first, second}
    return found
