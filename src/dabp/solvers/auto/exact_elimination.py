"""Exact variable elimination of narrow problems, at once or as a member."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dabp.graph.elimination_order import elimination_order
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.elimination.mini_bucket import MiniBucketSearch
from dabp.solvers.status import Status

WIDEST = 24
"""Induced width up to which elimination is tried: two values each would be too many beyond."""

WORK_PER_SECOND = 3e8
"""Costs that elimination adds up in a second."""


def exact_search(problem: Problem, work: float = np.inf, guard: Guard | None = None) -> MiniBucketSearch | None:
    """An elimination that is exact, fits the memory and adds up at most `work` costs; None if there is none.

    None too if the guard ends the search for an elimination order.
    """
    elimination = elimination_order(problem, widest=WIDEST, guard=guard)
    if elimination.width is None or elimination.width > WIDEST or (guard is not None and guard.over):
        return None
    search = MiniBucketSearch(problem, max(1, elimination.width), 20_000_000, elimination)
    return search if search.exact and search.work <= work else None


@dataclass(frozen=True, kw_only=True)
class ExactElimination(Solver):
    """`mbe` as a member of `auto`: at the i-bound at which it is exact, if that is affordable.

    Parameters
    ----------
    horizon
        Seconds of the solve: the search for an order may take 0.1 of these, elimination half.
    search
        An elimination that is planned already.
    """

    horizon: float
    search: MiniBucketSearch | None = None

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin what is planned, or look for an order first."""
        guard = budget.guard.within(0.1 * self.horizon)
        return self.search or exact_search(problem, 0.5 * WORK_PER_SECOND * self.horizon, guard) or _TooWide()


class _TooWide(Search):
    """The elimination of a problem that is too wide for it."""

    def step(self) -> Step:
        """End at once: there is no elimination."""
        return Step(finished=Status.CONVERGED)
