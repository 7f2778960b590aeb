"""The problem that a search solves, after fixing, rescaling and presolve, and the way back for answers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.problem.facts import minimized
from dabp.problem.guard import Guard
from dabp.problem.reduction import Conditioned, Reduction
from dabp.problem.small_elimination import Eliminated, cheap_order
from dabp.problem.units import InUnits
from dabp.solvers.base import Step

PRESOLVE_SHARE = 0.08
"""Share of the time left that presolve may take."""
_loaded = False
"""Whether a presolve of this process has loaded its kernels."""


class Preparation:
    """The minimisation that a search solves, and how its assignments become the user's.

    `fixed` maps variable to value indices; `guard` ends presolve early. With `units` decimal costs become integers and
    the constant is left out, which solvers that prove bounds need.
    """

    def __init__(
        self, problem: Problem, fixed: Mapping[int, int], presolve: bool, guard: Guard, *, units: bool = False
    ):
        self.original = problem
        self._reductions: list[Reduction] = [Conditioned(minimized(problem), fixed)] if fixed else []
        self.units = InUnits(self.reduced) if units else None
        if self.units is not None:
            self._reductions.append(self.units)
        self.notes: list[str] = []
        if presolve and not guard.over:
            self._presolve(guard)

    def _presolve(self, guard: Guard) -> None:
        """Eliminate all variables if that is cheap, or simplify within a part of the time left."""
        order = cheap_order(self.reduced)
        if order is not None:
            solved = Eliminated(self.reduced, order)
            self._reductions.append(solved)
            self.notes += solved.summary
            return
        from dabp.presolve import presolve as simplify  # loads compiled kernels

        global _loaded
        left = guard.seconds_left
        seconds = PRESOLVE_SHARE * left
        if not _loaded:  # loading kernels from the disk takes time, too
            seconds, _loaded = max(seconds, min(2.0, 0.3 * left)), True
        step = simplify(self.reduced, guard=guard.within(seconds))
        self._reductions.append(step)
        self.notes += step.summary

    @property
    def reduced(self) -> Problem:
        """The problem that the search solves."""
        return self._reductions[-1].problem if self._reductions else minimized(self.original)

    @property
    def infeasible(self) -> bool:
        """Whether presolve has proved the problem infeasible."""
        return any(getattr(step, "infeasible", False) for step in self._reductions)

    @property
    def exact(self) -> bool:
        """Whether a lifted assignment costs exactly what the search says; otherwise it may cost less."""
        return all(step is self.units for step in self._reductions)

    def in_costs(self, step: Step) -> Step:
        """A step with costs and bound in the units of the user's problem, minimised."""
        if self.units is None:
            return step
        bound = None if step.bound is None else self.units.cost(step.bound)
        best_cost, costs = self.units.cost(step.best_cost), self.units.costs(step.costs)
        return replace(step, costs=costs, best_cost=best_cost, bound=bound)

    def lift(self, assignment: Assignment) -> Assignment:
        """The user's assignment for one of the search's."""
        assignment = np.asarray(assignment, dtype=np.int64)
        for step in reversed(self._reductions):
            assignment = step.lift(assignment)
        return assignment

    def project(self, assignment: Assignment) -> Assignment:
        """The search's assignment nearest to one of the user's; its cost may be lower."""
        for step in self._reductions:
            assignment = step.project(assignment)
        return assignment

    def lift_beliefs(self, beliefs: tuple[NDArray[np.float64], ...] | None) -> tuple[NDArray[np.float64], ...] | None:
        """Beliefs of the user's variables, 1 for fixed values; None if presolve removed variables."""
        if beliefs is None or any(not isinstance(step, Conditioned) for step in self._reductions):
            return None
        if not self._reductions:
            return beliefs[: self.original.auxiliaries.num_visible]
        sizes = self.original.domain_sizes
        kept = self.project(np.arange(len(sizes)))
        lifted = self.lift(np.zeros(len(kept), dtype=np.int64))
        believed = dict(zip(kept.tolist(), beliefs, strict=True))
        return tuple(
            believed[variable]
            if variable in believed
            else (np.arange(sizes[variable]) == lifted[variable]).astype(float)
            for variable in range(self.original.auxiliaries.num_visible)
        )
