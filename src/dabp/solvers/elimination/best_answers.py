"""All answers of a problem in the order of their costs: best-first search by the messages of an elimination.

Where no bucket is split a message is the least cost of what it looks at, so that each partial assignment is extended
to an answer of exactly its bound, and the k best take k completions (R. Dechter, N. Flerova, R. Marinescu, *Search
algorithms for m best solutions for graphical models*, AAAI 2012). With split buckets the messages are lower bounds,
and the same search is A*.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.elimination.best_completion import complete
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.elimination.mini_bucket import MiniBucketSearch, Plan

WIDEST = 40
"""Variables that a message may look at; memory is the limit before."""

MOST_ENTRIES = 2**25
"""Costs of all messages, 8 bytes each."""

MOST_WAITING = 2_000_000
"""Partial assignments that may wait, about 100 bytes each."""

MOST_KEPT = 50_000_000
"""Values of the completed assignments that partial ones refer to, 4 bytes each."""


class _Partial(NamedTuple):
    """An answer's values above a rank and another value at it; `rank` is −1 for the complete answer."""

    bound: float
    number: int
    """The order of discovery: of equal bounds the earlier first, complete answers before all."""
    origin: int
    rank: int
    value: int


@dataclass
class BestAnswers:
    """The answers of a minimisation, cheapest first; iterating again goes on.

    `exhausted` says that there are no more. Iteration also ends when the guard does, or where too much would have to be
    kept in memory. Costs of the answers are their bounds up to rounding, and exact for integers.

    Parameters
    ----------
    problem
        A minimisation without a constant, in integers if that is possible.
    guard
        Ends planning, elimination and search.
    """

    problem: Problem
    guard: Guard
    most_entries: int = MOST_ENTRIES
    exhausted: bool = field(default=False, init=False)
    completions: int = field(default=0, init=False)
    _solved: tuple[Plan, NDArray[np.float64]] | None = field(default=None, init=False)
    _waiting: list[_Partial] = field(default_factory=list, init=False)
    _known: list[NDArray[np.int32]] = field(default_factory=list, init=False)

    def planned(self) -> bool:
        """Find an order and whether no bucket is split with it; computes no message."""
        widest = min(WIDEST, max(self.problem.num_variables, 1))
        self._search = MiniBucketSearch(self.problem, widest, self.most_entries, guard=self.guard, keep_messages=True)
        return self._search.exact

    def __iter__(self) -> Iterator[Assignment]:
        if self._solved is None:
            self._solved = self._search.solved()
            if self._solved is None:
                return
            bound = self._search.bound(self._solved[0])
            if np.isfinite(bound):
                self._complete(_Partial(bound, 0, -1, self.problem.num_variables, 0))
        while self._waiting:
            if self.guard.over or self._too_large:
                return
            best = heapq.heappop(self._waiting)
            if best.rank < 0:
                yield self._known[best.origin].astype(np.int64)
            else:
                self._complete(best)
        self.exhausted = True

    @property
    def _too_large(self) -> bool:
        return len(self._waiting) > MOST_WAITING or len(self._known) * self.problem.num_variables > MOST_KEPT

    def _complete(self, partial: _Partial) -> None:
        """Complete a partial assignment greedily; what it passes by waits."""
        if self._solved is None:
            return
        (plan, pool), order, sizes = self._solved, self._search.order, self.problem.domain_sizes
        values = np.zeros(len(sizes), dtype=np.int64)
        if partial.origin >= 0:
            values[:] = self._known[partial.origin]
            values[order[partial.rank]] = partial.value
        rises = np.full((len(sizes), int(sizes.max(initial=1))), np.inf)
        stopped = complete(order, sizes, plan.functions, plan.buckets, pool, partial.rank, values, rises)
        self.completions += 1
        origin = len(self._known)
        self._known.append(values.astype(np.int32))
        taken = np.where(np.arange(len(sizes)) < partial.rank, rises[np.arange(len(sizes)), values[order]], 0.0)
        taken[: stopped + 1] = 0.0
        above = partial.bound + np.concatenate([np.cumsum(taken[::-1])[::-1], [0.0]])  # [r]: bound of ranks r and above
        bounds = above[1:, None] + rises
        bounds[np.arange(len(sizes)), values[order]] = np.inf
        for rank, value in np.argwhere(np.isfinite(bounds)).tolist():
            self._wait(float(bounds[rank, value]), origin, rank, value)
        if stopped < 0:
            self._wait(float(above[0]), origin, -1, 0)

    def _wait(self, bound: float, origin: int, rank: int, value: int) -> None:
        number = -len(self._known) if rank < 0 else self.completions
        heapq.heappush(self._waiting, _Partial(bound, number, origin, rank, value))
