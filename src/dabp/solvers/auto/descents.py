"""Descent as a member: for problems so large that nobody else would be set up in time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dabp.compiling import working_seconds
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.solvers.auto.plan import ADDING_SECONDS
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.descent import Descent
from dabp.solvers.status import Status


@dataclass(frozen=True, kw_only=True)
class Descents(Solver):
    """Each variable in turn takes its cheapest value beside the others', until none changes."""

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin at `initial`, or with each variable's cheapest value; `seed` changes nothing."""
        return DescentSearch(problem, cheapest_values(problem) if initial is None else initial)


class DescentSearch(Search):
    """An assignment, and whose turn it is.

    What came of some turns is told when they took at least as long as adding up what an assignment costs does.
    """

    priced: ClassVar[bool] = True

    def __init__(self, problem: Problem, initial: Assignment):
        self._problem, self._descent = problem, Descent(problem)
        self._values = self._descent.compact(initial)
        self._best_cost, self._adding = np.inf, ADDING_SECONDS * len(problem.scope_variables)
        self._next = self._idle = 0
        self._added, self._untold = working_seconds(), False

    def step(self) -> Step:
        """Some variables' turns."""
        until, count = working_seconds() + BLOCK_SECONDS, len(self._values)
        while self._idle < count and working_seconds() < until:
            end = min(self._next + self._descent.chunk, count)
            changed = self._descent.turns(self._values, self._next, end)
            self._idle = 0 if changed else self._idle + end - self._next
            self._next = end % count
        finished = Status.CONVERGED if self._idle >= count else None
        started = working_seconds()
        if finished is None and started - self._added < self._adding:
            self._untold = True
            return Step()
        values, self._untold = self._values.astype(np.int64), False
        cost = float(self._problem.cost(values))
        self._added = working_seconds()
        self._adding = self._added - started
        better, self._best_cost = cost < self._best_cost, min(cost, self._best_cost)
        return Step(np.array([cost]), values if better else None, cost if better else np.inf, finished=finished)

    def pending(self) -> Assignment | None:
        """Where it is, if that was not told: an assignment also in the midst of a step, and seldom a worse one."""
        return self._values.astype(np.int64) if self._untold else None

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Go on from it if it is better."""
        if cost < self._best_cost:
            self._values, self._best_cost, self._idle = self._descent.compact(assignment), cost, 0
