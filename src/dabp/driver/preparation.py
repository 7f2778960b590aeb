"""Before a search starts: variables held at a value, presolve, a given start, and the way back for assignments."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.driver.first_guess import first_guess
from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.driver.visible_descent import visible_descent
from dabp.errors import ProblemError, SolverError
from dabp.problem import Assignment, Problem
from dabp.problem.elimination import Eliminated, cheap_order
from dabp.problem.guard import Guard
from dabp.problem.reduction import Conditioned, Reduction
from dabp.problem.units import InUnits
from dabp.problem.views import Label
from dabp.solvers.base import Step

PRICED_ENTRIES = 500_000
"""Entries of scopes, for a second of the time, up to which the first guess has its cost added up before the search."""
DESCENT_PART = 0.05
"""Of the time that is left, for a descent in the visible variables where the guess violates something."""
PRESOLVE_PART = 0.08
"""Of the time that is left: with the rest of the preparations it takes a tenth at most …"""
LOADING_SECONDS, LOADING_PART = 2.0, 0.3
"""… or, the first time that a process does it, so many seconds and this part, where that is more: kernels are loaded
from the disk then."""
_loaded = False


class Preparation:
    """The problem that a search sees, a minimisation, and how its assignments become the user's.

    Parameters
    ----------
    problem
        The user's.
    fixed
        Variables held at a value, by index.
    presolve
        Whether to simplify exactly.
    guard
        Ends presolve before it has done all it could.
    units
        Whether decimal costs become integers and the constant is left out, as those want it who prove things.
    """

    def __init__(
        self, problem: Problem, fixed: Mapping[int, int], presolve: bool, guard: Guard, *, units: bool = False
    ):
        self.original = problem
        self._reductions: list[Reduction] = [Conditioned(problem.minimized(), fixed)] if fixed else []
        self.units = InUnits(self.reduced) if units else None
        if self.units is not None:
            self._reductions.append(self.units)
        self.notes: list[str] = []
        if presolve and not guard.over:
            self._presolve(guard)

    def _presolve(self, guard: Guard) -> None:
        """Simplify exactly, within a part of the time that is left."""
        order = cheap_order(self.reduced)
        if order is not None:
            solved = Eliminated(self.reduced, order)
            self._reductions.append(solved)
            self.notes += solved.summary
            return
        from dabp.presolve import presolve as simplify  # compiled kernels, loaded only when wanted

        global _loaded
        left = guard.seconds_left
        share = PRESOLVE_PART * left
        if not _loaded:
            share, _loaded = max(share, min(LOADING_SECONDS, LOADING_PART * left)), True
        step = simplify(self.reduced, guard=guard.within(share))
        self._reductions.append(step)
        self.notes += step.summary

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

    def lift_beliefs(self, beliefs: tuple[NDArray[np.float64], ...] | None) -> tuple[NDArray[np.float64], ...] | None:
        """Of the user's variables; what is fixed is certain. Presolve has no way back for them."""
        if beliefs is None or any(not isinstance(step, Conditioned) for step in self._reductions):
            return None
        if not self._reductions:
            return beliefs[: self.original.num_visible]
        sizes = self.original.domain_sizes
        kept = self.project(np.arange(len(sizes)))
        lifted = self.lift(np.zeros(len(kept), dtype=np.int64))
        believed = dict(zip(kept.tolist(), beliefs, strict=True))
        return tuple(
            believed[variable] if variable in believed else _certain(int(sizes[variable]), int(lifted[variable]))
            for variable in range(self.original.num_visible)
        )

    def project(self, assignment: Assignment) -> Assignment:
        """From the user's problem to the one the search sees, for starts; it may become better, and may have to."""
        for step in self._reductions:
            assignment = step.project(assignment)
        return assignment


def _certain(size: int, value: int) -> NDArray[np.float64]:
    """The belief in a value that is held."""
    belief = np.zeros(size)
    belief[value] = 1.0
    return belief


@dataclass(frozen=True)
class Start:
    """What a user gave to begin with: variables held at a value, a start; whether to presolve, and in whole units."""

    fix: Mapping[str, Label] | None
    initial: Mapping[str, Label] | ArrayLike | Result | None
    presolve: bool
    units: bool = False

    def offer(self, run: RunningSolve, guard: Guard) -> Assignment | None:
        """Give the run its first answers: a guess, and the start unless it is against what is fixed; the start.

        Where auxiliary variables follow from others a guess that violates something is descended from. Where that would
        take a noticeable part of the time, what the guess costs is only added up if nobody finds more.
        """
        problem, fixed = run.problem, fixed_values(run.problem, self.fix)
        guess = problem.completed(first_guess(problem, fixed))
        run.guess(guess)
        if len(problem.scope_variables) <= PRICED_ENTRIES * guard.seconds_left:
            run.price_guess()
            if self.initial is None and problem.num_auxiliary and run.progress.cost is None:
                return _descended(run, guess, fixed, guard)
        if self.initial is None:
            return None
        start = problem.checked(_values(self.initial))
        if start.ndim > 1:
            raise ProblemError("initial is one assignment, not a batch")
        cost = problem.cost(start)
        if all(start[variable] == value for variable, value in fixed.items()):
            run.offer(start, float(cost))  # as it is: presolve may have no place for it
        return start

    def prepared(self, run: RunningSolve, guard: Guard) -> Preparation:
        """What the search will see."""
        prepared = Preparation(run.problem, fixed_values(run.problem, self.fix), self.presolve, guard, units=self.units)
        run.notes += prepared.notes
        if prepared.infeasible and run.progress.cost is not None:
            raise SolverError(f"presolve calls infeasible what has an assignment of cost {run.progress.cost}")
        return prepared


def _descended(run: RunningSolve, guess: Assignment, fixed: Mapping[int, int], guard: Guard) -> Assignment | None:
    """What a descent from the guess finds in a part of the time, if that violates nothing."""
    held = np.fromiter(fixed, dtype=np.int64)
    found = visible_descent(run.problem, guess, held, guard.within(DESCENT_PART * guard.seconds_left))
    cost = float(run.problem.cost(found))
    if not math.isfinite(cost):
        return None
    run.offer(found, cost)
    return found


def _values(initial: Mapping[str, Label] | ArrayLike | Result) -> Mapping[str, Label] | ArrayLike:
    """What a start says: of an earlier result its values, by name, as it may be of a related problem."""
    if not isinstance(initial, Result):
        return initial
    if initial.values is None:
        raise ProblemError("initial is a result without an assignment")
    return initial.values


def fixed_values(problem: Problem, fix: Mapping[str, Label] | None) -> dict[int, int]:
    """Variables held at a value, by index, of those given by name and label."""
    named = {problem.variable_index(name): label for name, label in (fix or {}).items()}
    for variable in named:
        if variable >= problem.num_visible:
            raise ProblemError(
                f"{problem.variable_name(variable)!r} is auxiliary: it follows from others and is not fixed"
            )
    return {variable: problem.value_index(variable, label) for variable, label in named.items()}
