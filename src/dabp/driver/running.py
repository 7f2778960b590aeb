"""One solve as it stands: the incumbent, the bound, the trace and the notes, in the user's units and direction."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass

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


@dataclass(frozen=True)
class Snapshot:
    """What a run resumes from, its trace left out."""

    elapsed: float
    iterations: int
    last_improvement: int
    bound: float | None
    assignment: Assignment | None
    cost: float | None


class RunningSolve:
    """The best assignment and bound of one solve, and how they came.

    Parameters
    ----------
    problem
        The user's, in whose units and direction everything here is.
    solver, seed
        For the result and for messages.
    clock
        Started with the solve.
    """

    def __init__(self, problem: Problem, solver: str, seed: int, clock: Clock):
        self.problem, self.solver, self.seed, self.clock = problem, solver, seed, clock
        self.sign = -1.0 if problem.maximize else 1.0
        self.progress = Progress()
        self.trace = Trace(maximize=problem.maximize)
        self.notes: list[str] = []
        self.traffic: Traffic | None = None
        self.beliefs: tuple[NDArray[np.float64], ...] | None = None
        self.told: float | None = None
        """The best cost that the search has given or was given: what it may call optimal."""
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
        """Take an answer of the driver's own, whose cost is not known yet."""
        self._unpriced = assignment

    def price_guess(self) -> None:
        """Add up what the guess costs, and offer it."""
        if self._unpriced is not None:
            guess, self._unpriced = self._unpriced, None
            self.offer(guess, float(self.problem.cost(guess)), guessed=True)

    def offer(self, assignment: Assignment, cost: float, *, guessed: bool = False) -> None:
        """Keep an assignment, whose cost the caller has computed, if it is feasible and beats the incumbent.

        `guessed` says that the search does not know it: no proof of the search's is about it.
        """
        progress = self.progress
        if not math.isfinite(cost) or not within_limit(self.problem, cost, assignment):
            return
        if not guessed and (self.told is None or self.sign * cost < self.sign * self.told):
            self.told = cost
        if self._guessed and not guessed and cost == progress.cost:
            # What the search proves is of its own assignment.
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
        """An incumbent that callbacks see: what they do with it must not change the answer."""
        kept = self.problem.auxiliaries.visible(assignment).copy()
        kept.flags.writeable = False
        return kept

    def adopt(self, assignment: Assignment, cost: float) -> None:
        """Take over an incumbent from before a resume, if it is better: no improvement of this run's."""
        if self._beats(cost):
            self.progress.assignment, self.progress.cost = assignment, cost
            self.told, self._guessed = cost, False

    def _beats(self, cost: float) -> bool:
        return self.progress.cost is None or self.sign * cost < self.sign * self.progress.cost

    def tighten(self, bound: float) -> None:
        """Take a lower bound of the minimisation: monotone, rounded up for integers, never past the incumbent."""
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
        """A copy of the progress for a callback: what the callback writes into it changes no result."""
        return dataclasses.replace(self.progress)

    def close(self, search: Search, beliefs: tuple[NDArray[np.float64], ...] | None, status: Status) -> None:
        """Store what a search that has ended says of itself."""
        self.notes += search.summary()
        self.traffic = search.traffic()
        self.believe(beliefs, status)

    def believe(self, beliefs: tuple[NDArray[np.float64], ...] | None, status: Status) -> None:
        """Keep what a search that ended so believes, if there is something to believe."""
        if beliefs is None:
            return
        if status is Status.INFEASIBLE:
            self.notes.append("no beliefs: no assignment is feasible, so that no value is probable")
        elif beliefs and not np.isfinite(np.concatenate(beliefs)).all():
            self.notes.append("no beliefs: messages are no numbers any longer; another cost_scale may help")
        else:
            self.beliefs = beliefs
            if status is not Status.OPTIMAL:
                self.notes.append("beliefs are approximate: the problem has cycles, or the run was stopped early")
            if self.progress.cost is None:
                self.price_guess()
            if self.progress.cost is None:
                self.notes.append("no feasible assignment was found: if there is none, the beliefs mean nothing")

    def state(self) -> Snapshot:
        """What `restore` needs, at the end of the last recorded block."""
        at = self.progress
        assignment = None if at.assignment is None else at.assignment.copy()
        elapsed = self._earlier + at.time
        return Snapshot(elapsed, at.iterations, at.last_improvement, at.bound, assignment, at.cost)

    def restore(self, state: Snapshot) -> None:
        """Go on from a state of a run on the same problem."""
        progress = self.progress
        self._earlier = state.elapsed
        progress.iterations, progress.last_improvement = state.iterations, state.last_improvement
        progress.bound = state.bound
        if state.assignment is not None:
            progress.assignment, progress.cost = state.assignment, state.cost
            self.told, self._guessed = state.cost, False

    def result(self, ended: Ended) -> Result:
        """The answer as it is now."""
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
