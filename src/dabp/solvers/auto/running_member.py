"""A member at work on one problem: a solver that is started again and again, and stepped in slices."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.auto.features import Features
from dabp.solvers.auto.incumbent import CLOSE, Incumbent
from dabp.solvers.auto.line_up import Place
from dabp.solvers.auto.member import Ended, Run, Situation
from dabp.solvers.base import Budget, Search
from dabp.solvers.finite_numbers import checked_step
from dabp.solvers.status import Status


@dataclass
class Report:
    """What came out of one slice."""

    member: str
    seconds: float = 0.0
    costs: list[NDArray[np.float64]] = field(default_factory=list)
    gain: float = 0.0
    """By how much the gap became smaller, from above or from below."""
    best: float = np.inf
    finished: Status | None = None
    ended: bool = False
    """Whether a run ended, or one of the restarts that a solver makes by itself."""
    error: Exception | None = None


class Slices:
    """One member, or one of its copies, with its current run."""

    def __init__(
        self,
        place: Place,
        problem: Problem,
        features: Features,
        seed: int,
        number: int,
        *,
        horizon: float = np.inf,
        guard: Guard | None = None,
    ):
        self.place, self.name = place, place.member.solver
        self._problem, self._features, self._horizon = problem, features, horizon
        self._guard = Guard() if guard is None else guard
        self._entropy = [seed, 0xA070, number]
        self._seed = np.random.SeedSequence(self._entropy)
        self._search: Search | None = None
        self._run: Run | None = None
        self._ended: list[Ended] = []
        self._improved_at = self._run_began = self.seconds = 0.0
        self._polished = np.inf
        """The cost of the incumbent when the last run ended."""
        self.best: Assignment | None = None
        """The best assignment of the current run."""
        self.best_cost = np.inf
        self.exhausted = False
        self.rounds = 0

    def start(self, incumbent: Incumbent, time_left: float, budget: Budget | None = None) -> None:
        """Begin a run as the member plans it; `budget` replaces the one that it would plan by."""
        rng = np.random.default_rng(self._seed.spawn(1)[0])
        if self._run is not None:
            self._ended.append(Ended(self._run.solver, self.seconds - self._run_began))
        place, features = self.place, self._features
        situation = Situation(
            place.kind, features, incumbent, rng, self._horizon, time_left, place.threads, self._ended
        )
        run = self._run = place.member.plan(situation)
        self._run_began = self._improved_at = self.seconds
        self.best, self.best_cost = None, np.inf
        given = replace(budget or run.budget, guard=self._guard)
        self._search = run.solver.start(self._problem, seed=int(rng.integers(2**31)), budget=given, initial=run.initial)
        self.rounds += 1

    def slice(
        self,
        incumbent: Incumbent,
        over: Callable[[float], bool],
        *,
        time_left: float = np.inf,
        budget: Budget | None = None,
        now: Callable[[], float] | None = None,
    ) -> Report:
        """Step, starting a run if there is none, until `over` is true of the seconds spent.

        With a clock `now` each improvement is offered to the incumbent at once; without one the caller takes `best`.
        """
        started = working_seconds()
        report = Report(self.name)
        if self._search is None:
            self.start(incumbent, time_left, budget)
        elif now is not None and (known := incumbent.best())[0] is not None:
            self._search.offer(known[0], known[1])
        search = self._search
        assert search is not None
        spent = 0.0  # the start counts from the first step on, so that each slice has one
        while self._search is search and not over(spent):
            step = checked_step(search)
            if len(step.costs):
                report.costs.append(step.costs)
                report.best = min(report.best, float(step.costs.min()))
            if step.best is not None:
                report.best = min(report.best, step.best_cost)
                if step.best_cost < self.best_cost:
                    self.best, self.best_cost = step.best.copy(), step.best_cost
                    self._improved_at = self.seconds + spent
                if now is not None:
                    known_cost = step.best_cost if search.priced else None
                    report.gain += incumbent.offer(step.best, self.name, now(), known_cost)
            if step.bound is not None:
                report.gain += incumbent.raise_bound(step.bound, self.name)
            report.ended = report.ended or any("restart" in record for record in step.records)
            report.finished = step.finished
            if step.finished is Status.OPTIMAL and now is not None:  # what it found is the incumbent by now
                incumbent.raise_bound(incumbent.cost, self.name)
            spent = working_seconds() - started
            if step.finished is not None or (now is not None and self._is_stale(self.seconds + spent, incumbent.cost)):
                report.ended = True
                self._end_run(incumbent.cost)
        report.seconds = working_seconds() - started
        self.seconds += report.seconds if now is not None else 0.0
        return report

    def pending(self) -> Assignment | None:
        """What the current run has found and not reported."""
        return None if self._search is None else self._search.pending()

    def resume(self, rounds: int, exhausted: bool) -> None:
        """Take the state after `rounds` runs, with none under way."""
        self.rounds, self.exhausted, self._ended = rounds, exhausted, [Ended(None, 0.0)] * rounds
        self._seed = np.random.SeedSequence(self._entropy, n_children_spawned=rounds)

    def waits(self, incumbent: float) -> bool:
        """Whether it has nothing to do unless the incumbent becomes better than this cost."""
        return self.place.member.polishing and self._search is None and self.rounds > 0 and incumbent >= self._polished

    def close(self) -> None:
        """End the current run."""
        if self._search is not None:
            self._search.close()
            self._search = None

    def _is_stale(self, now: float, incumbent: float) -> bool:
        """Whether a run of a patient member has frozen, but for a few variables, near the incumbent.

        It has found nothing better for half of its time and half a second more.
        """
        run = self._run
        if run is None or not self.place.member.patient or run.last or run.whole:
            return False
        if self.best_cost - incumbent > CLOSE * abs(incumbent):
            return False
        return now - self._improved_at > 0.5 + 0.5 * (now - self._run_began)

    def _end_run(self, incumbent: float) -> None:
        assert self._run is not None
        self.exhausted = self.exhausted or self._run.last
        self._polished = incumbent
        self.close()
