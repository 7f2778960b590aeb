"""`auto` where seconds are the limit: members in threads and toulbar2 in a child process share what they find."""

from __future__ import annotations

import contextlib
import queue
import threading

import numpy as np

from dabp.compiling import working_seconds
from dabp.packages import installed
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.problem.guard import Guard
from dabp.solvers.auto.incumbent import LEAST, Incumbent, least_of_tables
from dabp.solvers.auto.line_up import LineUp, slice_seconds
from dabp.solvers.auto.portfolio import Portfolio, record_of
from dabp.solvers.auto.prover import Prover, worth_proving
from dabp.solvers.auto.running_member import Report, Slices
from dabp.solvers.base import BLOCK_SECONDS, Budget, State, Step
from dabp.solvers.clock import Clock
from dabp.solvers.descent import descended
from dabp.solvers.scheduler import Arm, ByGain
from dabp.solvers.status import Status

CLOSE_SECONDS = 0.15
"""Seconds that `close` waits for threads in the midst of a step; these end their members themselves later."""

TURN_SECONDS = 0.15
"""Seconds of a turn where toulbar2 and the members share a single core; toulbar2 has two turns in a row."""


class TimedSearch(Portfolio):
    """Threads that run slices of members, and toulbar2 in a child process; `step` gathers what they report.

    Of the threads only `active` work at a time; the others wait, so that toulbar2 can have a core.

    Parameters
    ----------
    problem, seed, budget, initial
        As for any solver.
    line
        The members.
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
        super().__init__(problem, seed, budget, Incumbent(problem), horizon)
        self._clock = Clock()
        self._scheduler = ByGain(0.25 * horizon, slice_seconds(horizon))
        self._given = np.inf, -np.inf
        """The cost and the bound that the last step gave."""
        self._polled, self._turn_ends, self._provers_turn = self._clock.now, 0.0, True
        self._infeasible = self._lacks_prover = False
        self._prover: Prover | None = None
        self._reports: queue.SimpleQueue[Report] = queue.SimpleQueue()
        self._changed = threading.Condition()
        self._stop = self._closed = False
        self._busy: set[Slices] = set()
        self.active = budget.threads
        self._threads = [
            threading.Thread(target=self._loop, args=(number,), daemon=True, name=f"dabp-{number}")
            for number in range(budget.threads)
        ]
        self._first_answers(initial, budget.guard.within(0.02 * horizon))
        self.join(line)
        if self.incumbent.proved:
            return
        for thread in self._threads:  # before the process of toulbar2, whose start takes a moment
            thread.start()
        try:
            if prove and worth_proving(problem, line.features, horizon, budget.guard):
                self._lacks_prover = not installed("pytoulbar2")
                if not self._lacks_prover:
                    self._prover = Prover(problem, self.incumbent, seed, horizon, budget.memory_limit)
        except BaseException:
            self.close()
            raise
        self._share_cores()

    # ---- Search --------------------------------------------------------------------------------

    def step(self) -> Step:
        """Gather reports for about a block, and hand out what is new."""
        step = Step()
        reports = self._gather()
        self._share_cores()
        idle = self.idle
        reports += self._waiting()  # a member that was idle a moment ago had reported before
        for report in reports:
            self.tell_failure(report)
            self._infeasible |= report.finished is Status.INFEASIBLE
            step.records.append(record_of(report.member, report.best, seconds=report.seconds))
        if reports:
            step.costs = np.concatenate([np.zeros(0), *(costs for report in reports for costs in report.costs)])
        step.finished = self._finished(idle)  # first: what is given with a proof costs no more than what was proved
        assignment, cost = self.incumbent.best()
        bound = self.incumbent.bound
        if cost < self._given[0] and assignment is not None:
            step.best, step.best_cost = assignment.copy(), float(cost)
        if bound > self._given[1]:
            step.bound = bound
        self._given = cost, bound
        return step

    def pending(self) -> Assignment | None:
        """The best since the last step; while only `icm` has found anything, its assignment, which it prices seldom."""
        assignment, cost = self.incumbent.best()
        finds = self.incumbent.finds
        for member in self.members:
            if member.name == "icm" and all(find.member in ("icm", "first guess") for find in finds):
                unreported = member.pending()
                if unreported is not None:
                    return unreported
        return assignment if cost < self._given[0] else None

    def summary(self) -> tuple[str, ...]:
        """What was done, a line each."""
        lines = [*super().summary()]
        if self._prover is not None and self._prover.note:
            lines.append(self._prover.note)
        if self._lacks_prover and not self.incumbent.proved:
            lines.append("toulbar2 is not installed: nothing here searches for a proof that the answer is optimal")
        return tuple(lines)

    def state_dict(self) -> State:
        """The best answer and bound. What members are in the midst of is not kept: they start anew from these."""
        return self.incumbent.state_dict()

    def load_state_dict(self, state: State) -> None:
        """Share with all members what was known."""
        self.incumbent.load_state_dict(state)

    def close(self) -> None:
        """End the child process, the threads and the members."""
        if self._prover is not None:
            self._prover.close()
        with self._changed:
            self._stop = True
            self._changed.notify_all()
        deadline = working_seconds() + CLOSE_SECONDS
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, deadline - working_seconds()))
        with self._changed:
            self._closed = True
            idle = [member for member in self.members if member not in self._busy]
        for member in idle:
            member.close()

    # ---- the loop, in threads ------------------------------------------------------------------

    def _loop(self, thread: int) -> None:
        while self.work(thread) is not None:
            pass

    def choose(self, thread: int) -> Slices | None:
        """Wait for a member that is to run in this thread; None at the end of the solve."""
        with self._changed:
            while not self._stop:
                if thread < self.active and (member := self._next()) is not None:
                    self._busy.add(member)
                    return member
                self._changed.wait(0.05)
        return None

    def slice(self, member: Slices, thread: int) -> Report:
        """Run a member until its slice is over or the thread is to pause."""
        seconds = slice_seconds(self.horizon)
        return member.slice(
            self.incumbent,
            lambda spent: self._stop or thread >= self.active or spent > seconds,
            time_left=max(0.0, self.horizon - self._clock.now),
            now=lambda: self._clock.now,
        )

    def reward(self, member: Slices, report: Report) -> None:
        """Tell the scheduler, and `step`."""
        self._reports.put(report)  # before the member counts as idle, so that `step` finds its report
        with self._changed:
            self._busy.discard(member)
            number = self.members.index(member)
            self._scheduler.reward(number, max(report.seconds, 1e-6), report.gain, report.best, report.ended)
            self._changed.notify_all()
            closed = self._closed
        if closed:
            member.close()

    def _next(self) -> Slices | None:
        elapsed = self._clock.now / max(self.horizon, 1e-9)
        able = [number for number, member in enumerate(self.members) if self._is_able(member)]
        begun = len(self._threads) == 1 or any(each.rounds for each in self.members if not each.place.member.opens)
        for member in (self.members[number] for number in able):
            if member.place.member.opens and (elapsed < 0.25 or not begun):
                return member
        available = [number for number in able if elapsed >= self.members[number].place.delay]
        available = available or [number for number in able if not self.members[number].place.waits]
        chosen = self._scheduler.choose(available, self.incumbent.cost, self.incumbent.bound)
        return None if chosen is None else self.members[chosen]

    def _is_able(self, member: Slices) -> bool:
        return member not in self._busy and not member.exhausted and not member.waits(self.incumbent.cost)

    @property
    def idle(self) -> bool:
        """Whether no member has anything left to do."""
        return not self._busy and not any(map(self._is_able, self.members))

    # ---- the beginning -------------------------------------------------------------------------

    def _first_answers(self, initial: Assignment | None, guard: Guard) -> None:
        """A guess, the given start, and a descent from the better of them; a bound that they may meet."""
        problem, incumbent = self.problem, self.incumbent
        incumbent.raise_bound(least_of_tables(problem), LEAST)
        guess = cheapest_values(problem)
        incumbent.offer(guess, "first guess", 0.0)
        if initial is not None:
            incumbent.offer(initial, "the given start", 0.0)
        best = incumbent.assignment
        start = guess if best is None else best
        incumbent.offer(descended(problem, start, guard), "icm", self._clock.now)

    def join(self, line: LineUp) -> list[Slices]:
        """Let members take part, and the scheduler know them."""
        with self._changed:
            joined = super().join(line)
            for member in joined:
                of = member.place.member
                self._scheduler.add(Arm(member.place.weight, of.patient, of.bounding, of.seeking))
            self._changed.notify_all()
        return joined

    # ---- reports and toulbar2 ------------------------------------------------------------------

    def _gather(self) -> list[Report]:
        """Wait for a block, for the prover if it runs, else for the members."""
        reports: list[Report] = []
        now = self._clock.now
        if self._prover is not None and self._prover.running and self._provers_turn:
            self._prover.poll(now, now - self._polled)
        else:
            with contextlib.suppress(queue.Empty):
                reports.append(self._reports.get(timeout=BLOCK_SECONDS))
        self._polled = now
        return reports

    def _waiting(self) -> list[Report]:
        reports = []
        with contextlib.suppress(queue.Empty):
            while True:
                reports.append(self._reports.get_nowait())
        return reports

    def _share_cores(self) -> None:
        """Give toulbar2 a core as long as it has prospects; a single core is shared in turns."""
        prover, threads = self._prover, self.budget.threads
        if prover is None or not prover.running:
            self.active = threads
            return
        now = self._clock.now
        hopeless = prover.hopeless(now)
        if threads == 1 and not hopeless:
            if now >= self._turn_ends:
                self._provers_turn = not self._provers_turn
                self._turn_ends = now + TURN_SECONDS * (2 if self._provers_turn else 1)
        else:
            self._provers_turn = not hopeless
        active = threads - 1 if self._provers_turn else threads
        if active != self.active:
            (prover.resume if self._provers_turn else prover.pause)()
            with self._changed:
                self.active = active
                self._changed.notify_all()

    def _finished(self, idle: bool) -> Status | None:
        prover = self._prover
        if self._infeasible or (prover is not None and prover.finished is Status.INFEASIBLE):
            return Status.INFEASIBLE
        if self.incumbent.proved:
            return Status.OPTIMAL
        return Status.CONVERGED if idle and (prover is None or not prover.running) else None
