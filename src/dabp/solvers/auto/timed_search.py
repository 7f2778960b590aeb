"""The portfolio limited by time: members in threads and toulbar2 in a child process share what they find."""

from __future__ import annotations

import contextlib
import queue
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dabp.errors import DabpError
from dabp.packages import installed
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.problem.guard import Guard
from dabp.solvers.auto.bandit import Bandit
from dabp.solvers.auto.explain import explain
from dabp.solvers.auto.incumbent import Incumbent, least_of_tables
from dabp.solvers.auto.kinds import LineUp, descent_ahead
from dabp.solvers.auto.member import Kind, Member, Report
from dabp.solvers.auto.plan import APART_SECONDS, FIRST_ANSWER, MEMORY, SEEKERS, SHARED_CORE, SHARES, slice_seconds
from dabp.solvers.auto.prover import Prover, worth_proving
from dabp.solvers.auto.workers import Workers
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, State, Step
from dabp.solvers.clock import Clock
from dabp.solvers.descent import descended
from dabp.solvers.status import Status

NO_PROVER = "toulbar2 is not installed: nothing here searches for a proof that the answer is optimal"
"""The note of a result that toulbar2 might have proved optimal."""

LEAST = "the least cost of each factor"
"""Who gives the first bound."""


class TimedSearch(Search):
    """Members in threads, toulbar2 in a child process; `step` gathers what they report.

    Parameters
    ----------
    problem, seed, budget, initial
        As for any solver.
    line
        The members; or who finds them, which is then done while descent is at work already.
    horizon
        Seconds that members plan for.
    prove
        Whether toulbar2 takes part.
    """

    def __init__(
        self,
        problem: Problem,
        line: LineUp | Callable[[], LineUp],
        *,
        seed: int,
        budget: Budget,
        initial: Assignment | None,
        horizon: float,
        prove: bool,
    ):
        self._clock, self._guard = Clock(), budget.guard
        self._incumbent = Incumbent(problem, apart=isinstance(line, LineUp))
        self._problem, self._seed, self._horizon = problem, seed, horizon
        self._members: list[Member] = []
        self._workers = Workers([], self._bandit([]), self._incumbent, budget.threads, self._now, horizon)
        self._threads = budget.threads
        self._notes: list[str] = []
        self._told = (np.inf, -np.inf)
        self._heard = self._now()
        self._turn_ends, self._provers_turn = 0.0, True
        self._verdict: Status | None = None
        self._prover: Prover | None = None
        self._lacks_prover = False
        if isinstance(line, LineUp):
            self._first_answers(initial, budget.guard.within(FIRST_ANSWER * horizon))
            self._take(line)
        else:
            self._begin_early(initial)
        settled = self._incumbent.proved
        if not settled:
            self._workers.start()  # before toulbar2's process, whose start takes a moment
        try:
            line = line if isinstance(line, LineUp) else self._prepared_beside(line)
            if prove and line.provable and not settled and worth_proving(problem, horizon, budget.guard):
                self._lacks_prover = not installed("pytoulbar2")
                if not self._lacks_prover:
                    self._prover = Prover(problem, self._incumbent, seed, horizon, budget.memory_limit)
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
        lacking = [NO_PROVER] if self._lacks_prover and not self._incumbent.proved else []
        return tuple(explain(self._incumbent, self._members, [*self._notes, *lacking], self._prover))

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
        first, finds = self._members[0] if self._members else None, self._incumbent.finds
        if first is not None and first.kind.ahead and all(find.member == first.kind.name for find in finds):
            untold = first.pending()  # nobody has found anything better than what it is in the midst of
            return assignment if untold is None and cost < self._told[0] else untold
        return assignment if cost < self._told[0] else None

    # ---- inside --------------------------------------------------------------------------------

    def _first_answers(self, initial: Assignment | None, guard: Guard) -> None:
        """A guess, the given start, and a descent from the better of them; a bound that they may meet."""
        problem = self._problem
        self._incumbent.raise_bound(least_of_tables(problem), LEAST)
        guess = cheapest_values(problem)
        self._incumbent.offer(guess, "the first guess", 0.0)
        if initial is not None:
            self._incumbent.offer(initial, "the given start", 0.0)
        best = self._incumbent.assignment
        self._incumbent.offer(descended(problem, guess if best is None else best, guard), "descent", self._now())

    def _begin_early(self, initial: Assignment | None) -> None:
        """Descent alone, from the given start if there is one; its answers cost no more."""
        kind = descent_ahead(initial)
        self._members.append(Member(kind, self._problem, self._seed, len(SHARES), self._guard))
        self._workers.join(self._members[:], self._bandit([kind]))
        self._notes.append("descent began at once; the others were prepared beside it")

    def _prepared_beside(self, line: Callable[[], LineUp]) -> LineUp:
        """The members, and if there is time a bound and the components, while descent is at work."""
        found = line()
        self._take(found)
        if self._guard.seconds_left > APART_SECONDS * len(self._problem.scope_variables):
            self._incumbent.raise_bound(least_of_tables(self._problem), LEAST)
            self._incumbent.tell_apart()
        else:
            self._notes.append("components and a first bound were left out: to find them takes too much of the time")
        return found

    def _take(self, line: LineUp) -> None:
        """Let the members of a line take part."""
        kinds = line.kinds
        if self._members:  # descent is at work, and goes on as it would have begun
            descent = self._members[0]
            for kind in (kind for kind in kinds if kind.name == descent.kind.name):
                descent.kind = replace(kind, plan=descent.kind.plan, ahead=True)
            kinds = [kind for kind in kinds if kind.name != descent.kind.name]
        members = [Member(kind, self._problem, self._seed, number, self._guard) for number, kind in enumerate(kinds)]
        self._notes += line.notes
        self._members += members
        self._workers.join(members, self._bandit(kinds))

    def _bandit(self, kinds: list[Kind]) -> Bandit:
        return Bandit(
            [kind.prior for kind in kinds],
            [kind.patient for kind in kinds],
            [kind.bounding for kind in kinds],
            MEMORY * self._horizon,
            slice_seconds(self._horizon),
            [kind.name in SEEKERS for kind in kinds],
        )

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
