"""The linear relaxation as a solver: a bound, infeasibility, and an assignment by rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dabp.errors import ParameterError
from dabp.packages import require
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.linear.bound import lower_bound
from dabp.solvers.linear.highs import Highs
from dabp.solvers.linear.look import infeasible, rounded
from dabp.solvers.linear.program import Program, Tables, program_of
from dabp.solvers.status import Status


@dataclass(frozen=True, kw_only=True)
class LinearRelaxation(Solver):
    """The linear relaxation, solved by HiGHS: a lower bound, a proof that there is no answer, and a rounded answer.

    Statements (counts, sums, all-different) give their linear rows, values that exclude each other a row for each
    clique, and other tables of up to 10,000 cells the local polytope. First the rows alone are solved, which shows in
    milliseconds that a roster needs more people than there are, then all. The bound is evaluated from the dual values
    anew and is safe against rounding. Proves optimality only where the relaxation is tight.

    Reference: Q. Huangfu, J. A. J. Hall, *Parallelizing the dual revised simplex method*, Mathematical Programming
    Computation, 2018 (HiGHS).

    Parameters
    ----------
    share
        Part of the time left that it may take.
    """

    iterations_end: ClassVar[bool] = False
    proves: ClassVar[bool] = True

    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise ParameterError(f"linear-relaxation's share is above 0 and at most 1, not {self.share}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with the rows alone; `seed` and `initial` change nothing."""
        require("highspy", "linear-relaxation")
        return LinearSearch(problem, budget.guard.within(self.share * budget.guard.seconds_left))


class LinearSearch(Search):
    """Programs of more and more tables one after the other, each solved in a thread."""

    def __init__(self, problem: Problem, guard: Guard):
        self._problem, self._guard = problem, guard
        self._program: Program | None = None
        self._highs = Highs()
        self._running = False
        self._stages = [Tables.NONE, Tables.VISIBLE, Tables.ALL]
        self._bound = -math.inf
        self._best: Assignment | None = None
        self._best_cost = math.inf

    def step(self) -> Step:
        """Wait a moment for the program under way; take what it gives when it has ended."""
        if not self._running:
            return self._next()
        run, program = self._highs, self._program
        if not run.wait(BLOCK_SECONDS):
            return Step()
        assert program is not None
        self._running = False
        if infeasible(program, run):
            return Step(finished=Status.INFEASIBLE)
        step = Step()
        if run.multipliers is not None and not run.infeasible:
            bound = lower_bound(program, run.multipliers)
            if bound > self._bound:
                self._bound = step.bound = bound
        if run.values is not None:
            self._round(program, run, step)
        if run.error:
            return Step(finished=Status.LIMIT, notes=(f"HiGHS gave up: {run.error}",))
        return step

    def _next(self) -> Step:
        if not self._stages:
            gap = self._best_cost - self._bound
            tight = math.isfinite(self._best_cost) and gap <= self._problem.facts.rounding(self._best_cost)
            return Step(finished=Status.OPTIMAL if tight else Status.CONVERGED)
        program = program_of(self._problem, self._guard, tables=self._stages.pop(0))
        if self._guard.over:
            return Step(finished=Status.LIMIT)
        if program.constant == math.inf:
            return Step(finished=Status.INFEASIBLE)
        if self._program is not None and len(program.low) == len(self._program.low):
            return Step()  # the tables add nothing
        self._program = program
        self._highs.start(program, self._guard.seconds_left)
        self._running = True
        return Step()

    def _round(self, program: Program, run: Highs, step: Step) -> None:
        """The assignment that a solution is rounded to, if it is the best one."""
        assert run.values is not None
        assignment = rounded(self._problem, program, run.values)
        cost = float(self._problem.cost(assignment))
        step.costs = np.array([cost])
        if cost < self._best_cost:
            self._best, self._best_cost = assignment, cost
            step.best, step.best_cost = assignment, cost

    def close(self) -> None:
        """End the process of HiGHS if it still solves."""
        self._highs.close()
