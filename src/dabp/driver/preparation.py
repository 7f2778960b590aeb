"""Before a search starts: variables held at a value, presolve, a given start, and the way back for assignments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from dabp.driver.run import Run
from dabp.errors import ProblemError
from dabp.problem import Assignment, Problem
from dabp.problem.reduction import Conditioned, Reduction
from dabp.problem.units import InUnits
from dabp.problem.views import Label
from dabp.solvers.base import Step


class Preparation:
    """The problem that a search sees, a minimisation, and how its assignments become the user's.

    Parameters
    ----------
    problem
        The user's.
    fix
        Variables held at a value, by name and label.
    presolve
        Whether to simplify exactly.
    units
        Whether decimal costs become integers and the constant is left out, as those want it who prove things.
    """

    def __init__(self, problem: Problem, fix: Mapping[str, Label] | None, presolve: bool, units: bool = False):
        self.original = problem
        self._conditions = [] if not fix else [Conditioned(problem.minimized(), _indices(problem, fix))]
        self._reductions: list[Reduction] = [*self._conditions]
        self.units = InUnits(self.reduced) if units else None
        if self.units is not None:
            self._reductions.append(self.units)
        if presolve:
            from dabp.presolve import presolve as simplify  # compiled kernels, loaded only when wanted

            self._reductions.append(simplify(self.reduced))
        self.notes = [note for step in self._reductions for note in getattr(step, "summary", ())]

    @property
    def reduced(self) -> Problem:
        """What the search solves."""
        return self._reductions[-1].problem if self._reductions else self.original.minimized()

    @property
    def infeasible(self) -> bool:
        """Whether it is already proved that there is no answer."""
        return any(getattr(step, "infeasible", False) for step in self._reductions)

    @property
    def exact(self) -> bool:
        """Whether the search's assignments cost the same as the user's; otherwise these may be better."""
        return all(step is self.units for step in self._reductions)

    def in_costs(self, step: Step) -> Step:
        """A step with costs and bound as those of the user's problem, minimised."""
        if self.units is None:
            return step
        bound = None if step.bound is None else self.units.cost(step.bound)
        best_cost, costs = self.units.cost(step.best_cost), self.units.costs(step.costs)
        return replace(step, costs=costs, best_cost=best_cost, bound=bound)

    def lift(self, assignment: Assignment) -> Assignment:
        """From the problem the search sees to the user's."""
        assignment = np.asarray(assignment, dtype=np.int64)
        for step in reversed(self._reductions):
            assignment = step.lift(assignment)
        return assignment

    def start(self, initial: Mapping[str, Label] | ArrayLike, run: Run) -> Assignment:
        """The start that was given as the search may take it; the run has it, and what presolve made of it."""
        given = self.original.assignment(initial) if isinstance(initial, Mapping) else np.asarray(initial)
        cost = self.original.cost(given)
        if np.ndim(cost):
            raise ProblemError("initial is one assignment, not a batch")
        start = given.astype(np.int64)
        if all(np.array_equal(step.lift(step.project(start)), start) for step in self._conditions):
            run.offer(start, float(cost))  # as it is: presolve may have no place for it
        for step in self._reductions:
            start = step.project(start)
        lifted = self.lift(start)
        run.offer(lifted, float(self.original.cost(lifted)))
        return start


def _indices(problem: Problem, fix: Mapping[str, Label]) -> dict[int, int]:
    variables = {problem.variable_index(name): label for name, label in fix.items()}
    return {variable: problem.value_index(variable, label) for variable, label in variables.items()}
