"""Descent from an assignment on the problem's own columns, in linear time a sweep; it begins before all is laid out."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.descent_sweep import OwnCosts, Records, Scopes, count_records, descend, write_records
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, offsets_of, own_costs
from dabp.problem.guard import Guard


class Descent:
    """Descents on one problem, by one thread at a time.

    Records of the factors around each variable are written for the first variables first, so that these have turns
    before all is laid out.

    Parameters
    ----------
    problem
        What is descended on.
    first_piece
        Variables whose records are written first, at least.
    wide
        Whether records hold 64-bit integers, also where 32 bits are enough.
    """

    def __init__(self, problem: Problem, *, first_piece: int = 4_096, wide: bool = False):
        self._first_piece = first_piece
        self._count = problem.num_variables
        present = np.flatnonzero(np.bincount(problem.arities, minlength=2))
        self._arity: Indices = present[present >= 2]
        group = np.zeros(int(self._arity.max(initial=1)) + 1, dtype=np.int64)
        group[self._arity] = np.arange(len(self._arity))
        self._scopes = Scopes(
            problem.scope_offsets, problem.scope_variables, problem.factor_table, problem.pool_offsets, group
        )
        own, start = own_costs(problem)
        own.flags.writeable = False  # as a part of the pool is: kernels are compiled for one kind of array
        sizes = problem.domain_sizes
        largest = int(sizes.max(initial=1))
        self._value: type = np.uint8 if largest < 2**8 else np.int64
        uniform = largest if (sizes == largest).all() else 0
        self._costs = OwnCosts(sizes.astype(self._value), uniform, start, own, problem.pool)
        self._room = np.zeros(largest)
        small = max(len(problem.pool), self._count * len(group)) < 2**31
        self._word: type = np.int32 if small and not wide else np.int64
        self._records: list[Records] = []
        self._laid_out = 0
        """Variables that have records."""
        entries = max(1, len(problem.scope_variables))
        self.chunk = max(1, 350_000 * self._count // entries)
        """Variables between two readings of the clock."""

    def descended(self, start: Assignment, guard: Guard) -> Assignment:
        """A local minimum near `start`, or as near to one as the guard allows."""
        values = self.compact(start)
        for _ in range(20):
            changed = first = 0
            while first < self._count:
                if guard.over:
                    return values.astype(np.int64)
                last = min(self._count, first + self.chunk)
                changed += self.turns(values, first, last)
                first = last
            if not changed:
                break
        return values.astype(np.int64)

    def compact(self, assignment: Assignment) -> NDArray[Any]:
        """A copy that `turns` changes: a byte a value, if that is enough."""
        return np.array(assignment, dtype=self._value)

    def turns(self, values: NDArray[Any], first: int, last: int) -> int:
        """Give the variables from `first` to `last` their cheapest values in turn; return how many changed."""
        while self._laid_out < last:
            self._lay_out_more()
        changed = 0
        for records in self._records:
            begin, end = max(first, records.first), min(last, records.first + records.start.shape[1] - 1)
            if begin < end:
                changed += int(descend(records, self._costs, values, self._room, begin, end))
        return changed

    def _lay_out_more(self) -> None:
        first = self._laid_out
        last = min(self._count, max(self._first_piece, self._count // 16, 4 * first))
        start = np.zeros((len(self._arity), last - first + 1), dtype=np.int32)
        count_records(self._scopes, first, last, start)
        place = offsets_of(start[:, -1].astype(np.int64) * self._arity)
        words = np.empty(place[-1], dtype=self._word)
        write_records(self._scopes, first, last, start, place, words)
        self._records.append(Records(first, self._arity, start, place, words))
        self._laid_out = last


def descended(problem: Problem, start: Assignment, guard: Guard) -> Assignment:
    """A local minimum near `start`, or as near to one as the guard allows."""
    return np.array(start, dtype=np.int64) if guard.over else Descent(problem).descended(start, guard)
