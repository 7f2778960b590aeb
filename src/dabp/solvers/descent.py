"""Descent from an assignment, on the problem's own columns, in linear time a sweep."""

from __future__ import annotations

import numpy as np

from dabp.graph.grouping import grouped
from dabp.kernels.local_search.descent import Entries, descend
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cell_strides
from dabp.problem.guard import Guard

SWEEPS, CHUNK = 20, 50_000
"""Sweeps of that descent at most, and variables between two looks at the clock."""


class Descent:
    """Descents on one problem."""

    def __init__(self, problem: Problem):
        self._entries = entries_of(problem)
        self._room = np.zeros(int(problem.domain_sizes.max(initial=1)))

    def descended(self, start: Assignment, guard: Guard) -> Assignment:
        """A local minimum near `start`, or as near to one as the guard allows."""
        values = np.array(start, dtype=np.int64)
        for _ in range(SWEEPS):
            changed = 0
            for first in range(0, len(values), CHUNK):
                if guard.over:
                    return values
                changed += self.turns(values, first, min(len(values), first + CHUNK))
            if not changed:
                break
        return values

    def turns(self, values: Assignment, first: int, last: int) -> int:
        """Let the variables from `first` to `last` take their cheapest values in turn; how many took another."""
        return int(descend(self._entries, values, self._room, first, last))


def descended(problem: Problem, start: Assignment, guard: Guard) -> Assignment:
    """A local minimum near `start`, or as near to one as the guard allows."""
    return np.array(start, dtype=np.int64) if guard.over else Descent(problem).descended(start, guard)


def entries_of(problem: Problem) -> Entries:
    """Its scopes, entry by entry and by variable."""
    entry, start = grouped(problem.scope_variables, problem.num_variables)
    return Entries(
        scope_start=problem.scope_offsets,
        variable=problem.scope_variables,
        stride=cell_strides(problem),
        factor=np.repeat(np.arange(problem.num_factors), problem.arities),
        base=problem.pool_offsets[problem.factor_table],
        start=start,
        entry=entry,
        domain=problem.domain_sizes,
        pool=problem.pool,
    )
