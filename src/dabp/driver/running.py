"""The state of one solve: incumbent, bound, trace and notes, in the user's units and direction."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.driver.result import Result
from dabp.driver.stopping import Ended, Progress
from dabp.driver.trace import Trace
from dabp.errors import SolverError
from dabp.problem import Assignment, Problem
from dabp.problem.facts import within_limit
from dabp.solvers.base import Search, Step
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status
from dabp.solvers.traffic import Traffic


class RunningSolve:
    """The best assignment and bound of one solve, and its trace, in the units and direction of the user's `problem`.

    `clock` started with the solve; `solver` and `seed` are for the result and for messages.
    """

    def __init__(self, problem: Problem, solver: str, seed: int, clock: Clock):
        self.problem, self.solver, self.seed, self.clock = problem, solver, seed, clock
        self.sign = -1.0 if problem.maximize else 1.0
        self.progress = Progress()
        self.trace = Trace(maximize=problem.maximize)
        self.notes: list[str] = []
        self.traffic: Traffic | None = None
        self.beliefs: tuple[NDArray[np.float64], ...] | None = None
        self.search_cost: float | None = None
        """The best cost that the search has found or was given: it may call only this one optimal."""
        self._unpriced: Assignment | None = None
        self._guessed = False  # whether the incumbent is none of the search's
        self._earlier = 0.0  # seconds before a resume

    @property
    def elapsed(self) -> float:
        """Seconds so far, those before a resume included."""
        return self._earlier + self.clock.now

    def record(self, step: Step) -> None:
        """Put a block into the trace."""
        progress = self.progress
        progress.time = self.clock.now
        elapsed = self._earlier + progress.time
        costs = self.sign * step.costs
        costs.flags.writeable = False  # callbacks see them
        self.trace.add_block(elapsed, costs)
        progress.iterations += len(costs)
        progress.block, progress.records, progress.improved = costs, step.records, False
        self.trace.records += [{"time": elapsed, **record} for record in step.records]
        self.notes += step.notes

    def guess(self, assignment: Assignment) -> None:
        """Keep an answer of the driver, whose cost is not known yet."""
        self._unpriced = assignment

    def price_guess(self) -> None:
        """Compute the cost of the guess and offer it."""
        if self._unpriced is not None:
            guess, self._unpriced = self._unpriced, None
            self.offer(guess, float(self.problem.cost(guess)), guessed=True)

    def offer(self, assignment: Assignment, cost: float, *, guessed: bool = False) -> None:
        """Keep an assignment, whose cost the caller has computed, if it is feasible and beats the incumbent.

        The search does not know a `guessed` assignment, so the search's proofs do not hold for it.
        """
        progress = self.progress
        if not math.isfinite(cost) or not within_limit(self.problem, cost, assignment):
            return
        if not guessed and (self.search_cost is None or self.sign * cost < self.sign * self.search_cost):
            self.search_cost = cost
        if self._guessed and not guessed and cost == progress.cost:
            progress.assignment, self._guessed = self._kept(assignment), False
        if not self._beats(cost):
            return
        progress.cost, progress.assignment, progress.improved = cost, self._kept(assignment), True
        self._guessed = guessed
        progress.last_improvement = progress.iterations
        self.trace.improvements.append((self.elapsed, progress.iterations, cost))
        if progress.bound is not None:
            self.tighten(self.sign * progress.bound)

    def _kept(self, assignment: Assignment) -> Assignment:
        """A read-only copy without auxiliary variables: callbacks see the incumbent and must not change it."""
        kept = self.problem.auxiliaries.visible(assignment).copy()
        kept.flags.writeable = False
        return kept

    def adopt(self, assignment: Assignment, cost: float) -> None:
        """Take over a better incumbent from before a resume, which is not recorded as an improvement."""
        if self._beats(cost):
            self.progress.assignment, self.progress.cost = assignment, cost
            self.search_cost, self._guessed = cost, False

    def _beats(self, cost: float) -> bool:
        return self.progress.cost is None or self.sign * cost < self.sign * self.progress.cost

    def tighten(self, bound: float) -> None:
        """Take a lower bound of the minimisation, rounded up for integers, monotone, at most the incumbent."""
        progress = self.progress
        if not math.isfinite(bound):
            return
        if self.problem.facts.integral:
            bound = float(math.ceil(bound - 1e-6))
        if progress.bound is not None:
            bound = max(bound, self.sign * progress.bound)
        if progress.cost is not None:
            cost = self.sign * progress.cost
            slack = self.problem.facts.rounding(cost)
            if bound > cost + 1e3 * slack:
                raise SolverError(f"solver {self.solver!r} gave bound {self.sign * bound}, beyond cost {progress.cost}")
            if bound >= cost - slack:
                bound = cost
        signed = self.sign * bound + 0.0
        if signed != progress.bound:
            progress.bound = signed
            self.trace.bounds.append((self.elapsed, progress.iterations, signed))

    def shown(self) -> Progress:
        """A copy of the progress: callbacks that write into it change no result."""
        return dataclasses.replace(self.progress)

    def close(self, search: Search, beliefs: tuple[NDArray[np.float64], ...] | None, status: Status) -> None:
        """Store the summary, the traffic and the beliefs of a search that has ended."""
        self.notes += search.summary()
        self.traffic = search.traffic()
        self.believe(beliefs, status)

    def believe(self, beliefs: tuple[NDArray[np.float64], ...] | None, status: Status) -> None:
        """Keep the beliefs of a search that ended with `status`, if they are numbers and the problem is feasible."""
        if beliefs is None:
            return
        if status is Status.INFEASIBLE:
            self.notes.append("no beliefs: the problem is infeasible")
        elif beliefs and not np.isfinite(np.concatenate(beliefs)).all():
            self.notes.append("no beliefs: messages became infinite or NaN; another cost_scale may help")
        else:
            self.beliefs = beliefs
            if status is not Status.OPTIMAL:
                self.notes.append("beliefs are approximate: the problem has cycles, or the run was stopped early")
            if self.progress.cost is None:
                self.price_guess()
            if self.progress.cost is None:
                self.notes.append("no feasible assignment was found: if there is none, the beliefs mean nothing")

    def state(self) -> dict[str, Any]:
        """The values that `restore` needs, at the end of the last recorded block."""
        at = self.progress
        best = {} if at.assignment is None else {"best": at.assignment.copy(), "best_cost": at.cost}
        return {
            "elapsed": self._earlier + at.time,
            "iterations": at.iterations,
            "last_improvement": at.last_improvement,
            "bound": at.bound,
            **best,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Continue from the `state` of a run on the same problem."""
        progress = self.progress
        self._earlier, progress.bound = state["elapsed"], state["bound"]
        progress.iterations, progress.last_improvement = state["iterations"], state["last_improvement"]
        if "best" in state:
            progress.assignment, progress.cost = state["best"], state["best_cost"]
            self.search_cost, self._guessed = progress.cost, False

    def result(self, ended: Ended) -> Result:
        """The result of the run as it is now."""
        progress = self.progress
        if progress.cost is None:
            self.price_guess()
        return Result(
            assignment=None if progress.assignment is None else progress.assignment.copy(),
            cost=progress.cost,
            status=ended.status,
            bound=progress.bound,
            iterations=progress.iterations,
            runtime=self.elapsed,
            seed=self.seed,
            solver=self.solver,
            values=None if progress.assignment is None else self.problem.names.labelled(progress.assignment),
            trace=self.trace,
            notes=tuple(self.notes),
            limit=ended.limit,
            messages=None if self.traffic is None else self.traffic.messages,
            message_size=None if self.traffic is None else self.traffic.size,
            beliefs=self.beliefs,
            problem=self.problem,
        )
