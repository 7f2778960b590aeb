"""A first answer that is more than a guess: descent from it, on the problem's own columns, in linear time a sweep."""

from __future__ import annotations

import numpy as np

from dabp.kernels.local_search.descent import Entries, descend, group_by_variable
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cell_strides
from dabp.problem.guard import Guard

SWEEPS, CHUNK = 20, 50_000
"""Sweeps of that descent at most, and variables between two looks at the clock."""


def descended(problem: Problem, start: Assignment, guard: Guard) -> Assignment:
    """A local minimum near `start`, or as near to one as the guard allows."""
    values = np.array(start, dtype=np.int64)
    if guard.over:
        return values
    entries = _entries(problem)
    room = np.zeros(int(problem.domain_sizes.max(initial=1)))
    count = problem.num_variables
    for _ in range(SWEEPS):
        changed = 0
        for first in range(0, count, CHUNK):
            changed += descend(entries, values, room, first, min(count, first + CHUNK))
            if guard.over:
                return values
        if not changed:
            break
    return values


def _entries(problem: Problem) -> Entries:
    start = np.zeros(problem.num_variables + 1, dtype=np.int64)
    entry = np.empty(len(problem.scope_variables), dtype=np.int64)
    group_by_variable(problem.scope_variables, start, entry)
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
