"""The portfolio limited by time: members in threads and toulbar2 in a child process share what they find."""

from __future__ import annotations

import contextlib
import queue
import warnings
from typing import Any

import numpy as np

from dabp.errors import DabpError
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.problem.guard import Guard
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, State, Step
from dabp.solvers.clock import Clock
from dabp.solvers.descent import descended
from dabp.solvers.portfolio.bandit import Bandit
from dabp.solvers.portfolio.explain import explain
from dabp.solvers.portfolio.incumbent import Incumbent, least_of_tables
from dabp.solvers.portfolio.kinds import LineUp
from dabp.solvers.portfolio.member import Member, Report
from dabp.solvers.portfolio.plan import FIRST_ANSWER, MEMORY, SHARED_CORE, slice_seconds
from dabp.solvers.portfolio.prover import Prover, worth_proving
from dabp.solvers.portfolio.workers import Workers
from dabp.solvers.status import Status


class TimedSearch(Search):
    """Members in threads, toulbar2 in a child process; `step` gathers what they report.

    Parameters
    ----------
    problem, line, seed, budget, initial
        As for any solver; `line` are the members.
    horizon
        Seconds that members plan for.
    prove
        Whether toulbar2 takes part.
    """

    def __init__(
        self,
        problem: Problem,
        line: LineUp,
        *,
        seed: int,
        budget: Budget,
        initial: Assignment | None,
        horizon: float,
        prove: bool,
    ):
        self._clock, self._guard = Clock(), budget.guard
        self._incumbent = Incumbent(problem)
        self._first_answers(problem, initial, budget.guard.within(FIRST_ANSWER * horizon))
        kinds = line.kinds
        self._members = [Member(kind, problem, seed, number, budget.guard) for number, kind in enumerate(kinds)]
        bandit = Bandit(
            [kind.prior for kind in kinds],
            [kind.patient for kind in kinds],
            [kind.bounding for kind in kinds],
            MEMORY * horizon,
            slice_seconds(horizon),
        )
        self._workers = Workers(self._members, bandit, self._incumbent, budget.threads, self._now, horizon)
        self._threads = budget.threads
        self._notes = list(line.notes)
        self._told = (np.inf, -np.inf)
        self._heard = self._now()
        self._turn_ends, self._provers_turn = 0.0, True
        self._verdict: Status | None = None
        settled = self._incumbent.proved
        if not settled:
            self._workers.start()  # before toulbar2's process, whose start takes a moment
        memory, useful = budget.memory_limit, prove and not settled and worth_proving(problem, horizon, budget.guard)
        try:
            self._prover = Prover(problem, self._incumbent, seed, horizon, memory) if useful else None
        except BaseException:
            self._workers.close()
            raise
        self._share()

    def step(self) -> Step:
        """Gather reports for about a block, and hand out what is new."""
        step = Step()
        reports = self._listen()
        self._share()
        idle = self._workers.idle
        reports += self._waiting()  # whoever was idle a moment ago had reported before
        if reports:
            step.costs = np.concatenate([np.zeros(0), *(costs for report in reports for costs in report.costs)])
        for report in reports:
            self._digest(report, step)
        step.finished = self._finished(idle)  # first: what is told with a proof is at least what was proved
        assignment, cost = self._incumbent.best()
        bound = self._incumbent.bound
        if cost < self._told[0] and assignment is not None:
            step.best, step.best_cost = assignment.copy(), float(cost)
        if bound > self._told[1]:
            step.bound = bound
        self._told = (cost, bound)
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Share an assignment with all members."""
        self._incumbent.offer(assignment, "outside", self._now())

    def summary(self) -> tuple[str, ...]:
        """What was done, a line each."""
        return tuple(explain(self._incumbent, self._members, self._notes, self._prover))

    def state_dict(self) -> State:
        """The best answer and bound. What members are in the midst of is not kept: they start anew from these."""
        return self._incumbent.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Share with all members what was known."""
        self._incumbent.load_state_dict(state)

    def close(self) -> None:
        """End the threads and the child process."""
        if self._prover is not None:
            self._prover.close()
        self._workers.close()

    def pending(self) -> Assignment | None:
        """What members have found since the last step."""
        assignment, cost = self._incumbent.best()
        return assignment if cost < self._told[0] else None

    # ---- inside --------------------------------------------------------------------------------

    def _first_answers(self, problem: Problem, initial: Assignment | None, guard: Guard) -> None:
        """A guess, the given start, and a descent from the better of them; a bound that they may meet."""
        self._incumbent.raise_bound(least_of_tables(problem), "the least cost of each factor")
        guess = cheapest_values(problem)
        self._incumbent.offer(guess, "the first guess", 0.0)
        if initial is not None:
            self._incumbent.offer(initial, "the given start", 0.0)
        best = self._incumbent.assignment
        self._incumbent.offer(descended(problem, guess if best is None else best, guard), "descent", self._now())

    def _now(self) -> float:
        return self._clock.now

    def _listen(self) -> list[Report]:
        """Wait for a block, on the prover if it runs, else on the members."""
        reports: list[Report] = []
        now = self._now()
        if self._prover is not None and self._prover.running and self._provers_turn:
            self._prover.poll(now, now - self._heard)
        else:
            with contextlib.suppress(queue.Empty):
                reports.append(self._workers.reports.get(timeout=BLOCK_SECONDS))
        self._heard = now
        return reports

    def _waiting(self) -> list[Report]:
        reports = []
        with contextlib.suppress(queue.Empty):
            while True:
                reports.append(self._workers.reports.get_nowait())
        return reports

    def _share(self) -> None:
        """Give toulbar2 a core as long as it has prospects; a single core is shared in turns."""
        prover = self._prover
        if prover is None or not prover.running:
            self._workers.active = self._threads
            return
        now = self._now()
        hopeless = prover.hopeless(now)
        if self._threads == 1 and not hopeless:
            if now >= self._turn_ends:
                self._provers_turn = not self._provers_turn
                self._turn_ends = now + (2 * SHARED_CORE if self._provers_turn else SHARED_CORE)
        else:
            self._provers_turn = not hopeless
        active = self._threads - 1 if self._provers_turn else self._threads
        if active != self._workers.active:
            (prover.resume if self._provers_turn else prover.pause)()
            self._workers.active = active

    def _digest(self, report: Report, step: Step) -> None:
        if report.error is not None:
            what = str(report.error)
            if not isinstance(report.error, DabpError | MemoryError):  # a bug, but none that should cost the answer
                what = f"{type(report.error).__name__}: {what}"
                warnings.warn(f"auto's member {report.member} failed ({what}); the others go on", stacklevel=2)
            self._notes.append(f"{report.member} gave up: {what}")
        if report.finished is Status.INFEASIBLE:
            self._verdict = Status.INFEASIBLE
        record: dict[str, Any] = {"member": report.member, "seconds": report.seconds}
        if np.isfinite(report.best):
            record["cost"] = report.best
        step.records.append(record)

    def _finished(self, idle: bool) -> Status | None:
        prover = self._prover
        if prover is not None and prover.finished is Status.INFEASIBLE:
            return Status.INFEASIBLE
        if self._verdict is not None:
            return self._verdict
        if self._incumbent.proved:
            return Status.OPTIMAL
        if idle and (prover is None or not prover.running):
            return Status.CONVERGED
        return None
