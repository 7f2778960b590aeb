"""A member of the portfolio: a solver that is started again and again, stepped in slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.plan import CLOSE, STALE, STALE_SECONDS
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.numbers import checked_step
from dabp.solvers.status import Status


@dataclass(frozen=True)
class Situation:
    """What a member knows when it starts a run."""

    round: int
    """How many runs it has had."""
    rng: np.random.Generator
    time_left: float
    """Seconds, as far as known."""
    last_seconds: float
    """How long its run before this one took."""
    incumbent: Incumbent
    last_answer: Assignment | None = None
    """The best that its run before this one found …"""
    last_cost: float = np.inf
    """… and what it costs."""


@dataclass(frozen=True)
class Run:
    """What a member starts: a solver, and what it starts from."""

    solver: Solver
    initial: Assignment | None = None
    budget: Budget = field(default_factory=Budget)
    """What the solver may think it has, if it plans by that."""
    ends: bool = False
    """Whether it ends by itself when planned, and says nothing before: it is not ended for that."""


@dataclass(frozen=True)
class Kind:
    """A way to search: how a run is chosen, what share it deserves before anything is known."""

    name: str
    plan: Callable[[Situation], Run]
    prior: float = 1.0
    turn: int = 100
    """Iterations of its first turn when members take turns."""
    once: bool = False
    """Whether one run is all it can give."""
    patient: bool = False
    """Whether its costs say nothing before a run ends."""
    bounding: bool = False
    """Whether it raises the bound."""
    polishing: bool = False
    """Whether its runs only improve the incumbent, so that the next one waits for another."""
    delay: float = 0.0
    """Fraction of the time that passes before it takes part."""
    eager: bool = False
    """Whether it begins before that if nobody else has anything to do."""
    first: bool = False
    """Whether it has the first slice, whatever its share: what it finds then tells what it deserves."""
    ahead: bool = False
    """Whether it runs before that for some time, and as long as no other member has been set up."""


@dataclass
class Report:
    """What came out of one slice."""

    member: str
    seconds: float
    costs: list[NDArray[np.float64]] = field(default_factory=list)
    gain: float = 0.0
    """By how much the gap became smaller, from above or from below."""
    best: float = np.inf
    finished: Status | None = None
    ended: bool = False
    """Whether a run came to its end, or one of several that a solver makes by itself."""
    error: Exception | None = None


class Member:
    """One kind of search on one problem, with its current run."""

    def __init__(self, kind: Kind, problem: Problem, seed: int, number: int, guard: Guard | None = None):
        self.kind, self._problem = kind, problem
        self._guard = Guard() if guard is None else guard
        self._polished = np.inf
        """The incumbent's cost when the last run ended."""
        self._entropy = [seed, 0xA070, number]
        self._seed = np.random.SeedSequence(self._entropy)
        self._search: Search | None = None
        self.rounds = 0
        self.seconds = self._run_began = self._run_improved = 0.0
        self._run_best = np.inf
        self._run_ends = False
        self._answer: Assignment | None = None
        """The best assignment of the run, or of the last one."""
        self._answer_cost = np.inf
        self.exhausted = False

    def slice(
        self,
        seconds: float,
        incumbent: Incumbent,
        clock: Callable[[], float],
        time_left: float,
        stopping: Callable[[], bool],
    ) -> Report:
        """Step for about so many seconds, starting a run if there is none; gives and takes incumbents."""
        started = working_seconds()
        report = Report(self.kind.name, 0.0)
        if self._search is None:
            self.start(incumbent, time_left)
        elif (best := incumbent.best())[0] is not None:
            self._search.offer(best[0], best[1])
        assert self._search is not None
        while not stopping():
            step = checked_step(self._search)
            if len(step.costs):
                report.costs.append(step.costs)
                report.best = min(report.best, float(step.costs.min()))
            if step.best is not None:
                report.best = min(report.best, step.best_cost)
                if step.best_cost < self._answer_cost:
                    self._answer, self._answer_cost = step.best.copy(), step.best_cost
                known = step.best_cost if self._search.priced else None
                report.gain += incumbent.offer(step.best, self.kind.name, clock(), known)
            if step.bound is not None:
                report.gain += incumbent.raise_bound(step.bound, self.kind.name)
            report.ended = report.ended or any("restart" in record for record in step.records)
            if step.finished is not None:
                report.finished = step.finished
                if step.finished is Status.OPTIMAL:  # then what it offered, hence the incumbent, is optimal
                    incumbent.raise_bound(incumbent.cost, self.kind.name)
                report.ended = True
                self._finish(incumbent)
                break
            spent = working_seconds() - started
            if self._stale(report.best, self.seconds + spent, incumbent.cost):
                report.ended = True
                self._finish(incumbent)
                break
            if spent > seconds:
                break
        if self.kind.bounding and self._search is not None:
            incumbent.decoded = self._search.decoded()
        report.seconds = working_seconds() - started
        self.seconds += report.seconds
        return report

    def pending(self) -> Assignment | None:
        """What the current run has found and not told."""
        search = self._search
        return None if search is None else search.pending()

    def step(self) -> Step:
        """One step of the current run."""
        assert self._search is not None
        return checked_step(self._search)

    def resume(self, rounds: int, exhausted: bool) -> None:
        """Be as after so many runs, with none under way."""
        self.rounds, self.exhausted = rounds, exhausted
        self._seed = np.random.SeedSequence(self._entropy, n_children_spawned=rounds)

    def close(self) -> None:
        """End the current run."""
        if self._search is not None:
            self._search.close()
            self._search = None

    def start(self, incumbent: Incumbent, time_left: float, budget: Budget | None = None) -> None:
        """Begin a run as its kind plans it."""
        rng = np.random.default_rng(self._seed.spawn(1)[0])
        seconds = self.seconds - self._run_began
        situation = Situation(self.rounds, rng, time_left, seconds, incumbent, self._answer, self._answer_cost)
        run = self.kind.plan(situation)
        self._run_began = self._run_improved = self.seconds
        self._run_best = self._answer_cost = np.inf
        self._run_ends, self._answer = run.ends, None
        given = replace(budget or run.budget, guard=self._guard)
        self._search = run.solver.start(self._problem, seed=int(rng.integers(2**31)), budget=given, initial=run.initial)
        self.rounds += 1

    def _stale(self, best: float, now: float, incumbent: float) -> bool:
        """Whether a patient run has come to rest without saying so."""
        if best < self._run_best:
            self._run_best, self._run_improved = best, now
        if not self.kind.patient or self.kind.once or self._run_ends:
            return False
        if self._run_best - incumbent > CLOSE * abs(incumbent):
            return False
        return now - self._run_improved > STALE_SECONDS + STALE * (now - self._run_began)

    def waits(self, incumbent: float) -> bool:
        """Whether there is nothing to do for it unless the incumbent gets better than this cost."""
        begins = self.kind.ahead and self.rounds == 0  # with nothing to improve yet
        return self.kind.polishing and self._search is None and incumbent >= self._polished and not begins

    def _finish(self, incumbent: Incumbent) -> None:
        self.close()
        self._polished = incumbent.cost
        self.exhausted = self.exhausted or self.kind.once
