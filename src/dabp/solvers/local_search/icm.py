"""Iterated conditional modes: coordinate descent from one assignment, on the problem's own columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dabp.compiling import working_seconds
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.descent import Descent
from dabp.solvers.status import Status


@dataclass(frozen=True, kw_only=True)
class Icm(Solver):
    """Iterated conditional modes (ICM): each variable in turn takes its cheapest value beside those of the others.

    Ends in a local minimum, where no single change is better. It needs no table of its own and begins at once where
    other solvers take seconds to set up. One iteration is one sweep over all variables.

    Reference: J. Besag, *On the statistical analysis of dirty pictures*, JRSS B 48, 1986.
    """

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin at `initial`, or with each variable's cheapest value; `seed` changes nothing."""
        return IcmSearch(problem, cheapest_values(problem) if initial is None else initial)


class IcmSearch(Search):
    """An assignment, and the variable that is next.

    Between the ends of sweeps an assignment is priced when descending has taken at least as long as pricing does.
    """

    priced: ClassVar[bool] = True

    def __init__(self, problem: Problem, initial: Assignment):
        self._problem, self._descent = problem, Descent(problem)
        self._values = self._descent.compact(initial)
        self._best_cost = np.inf
        self._pricing_seconds = 2e-8 * len(problem.scope_variables)  # until it is measured
        self._next = self._unchanged = 0
        self._priced_at, self._unpriced = working_seconds(), False

    def step(self) -> Step:
        """Descend for about a block, at most to the end of the sweep."""
        until, count = working_seconds() + BLOCK_SECONDS, len(self._values)
        swept = False
        while not swept and working_seconds() < until:
            end = min(self._next + self._descent.chunk, count)
            changed = self._descent.turns(self._values, self._next, end)
            self._unchanged = 0 if changed else self._unchanged + end - self._next
            self._next, swept = end % max(count, 1), end == count
        finished = Status.CONVERGED if swept and self._unchanged >= count else None
        started = working_seconds()
        if not swept and started - self._priced_at < self._pricing_seconds:
            self._unpriced = True
            return Step()
        values, self._unpriced = self._values.astype(np.int64), False
        cost = float(self._problem.cost(values))
        self._priced_at = working_seconds()
        self._pricing_seconds = self._priced_at - started
        better, self._best_cost = cost < self._best_cost, min(cost, self._best_cost)
        costs = np.array([cost]) if swept else np.zeros(0)
        return Step(costs, values if better else None, cost if better else np.inf, finished=finished)

    def pending(self) -> Assignment | None:
        """The assignment as it is, if it was not priced yet; its cost is seldom above that of the last one priced."""
        return self._values.astype(np.int64) if self._unpriced else None

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Go on from a better assignment."""
        if cost < self._best_cost:
            self._values, self._best_cost = self._descent.compact(assignment), cost
            self._next = self._unchanged = 0
