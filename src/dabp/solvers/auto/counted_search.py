"""`auto` where iterations are the limit: members take turns, and the same seed gives the same result."""

from __future__ import annotations

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.line_up import LineUp
from dabp.solvers.auto.portfolio import Portfolio, record_of
from dabp.solvers.auto.running_member import Report, Slices
from dabp.solvers.base import Budget, State, Step
from dabp.solvers.status import Status

GROWTH = 2
"""How many times longer the turns of a round are than those of the round before."""


class CountedSearch(Portfolio):
    """Members in turn, each a new run of a fixed number of iterations that starts from what is known then.

    No clock decides anything: neither which member is next, nor where a turn is cut into steps, since what a turn has
    found is shared when it ends. No threads and no child process.
    """

    def __init__(self, problem: Problem, line: LineUp, *, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, Incumbent(problem), np.inf)
        if initial is not None:
            self.incumbent.offer(initial, "the given start", 0.0)
        self.join(line)
        self._turn, self._done, self._turn_left = 0, 0, 0
        self._reported = -np.inf
        """The last bound that a step gave."""
        self._running: Slices | None = None

    @property
    def at_boundary(self) -> bool:
        """True between turns, when no member runs."""
        return self._running is None

    def step(self) -> Step:
        """A step of the member whose turn it is."""
        if all(member.exhausted for member in self.members):
            return Step(finished=Status.CONVERGED)
        report = self.work()
        if report is None:
            return Step()
        step = Step(costs=np.concatenate([np.zeros(0), *report.costs]))
        self._done += len(step.costs)
        self._turn_left -= len(step.costs)
        if report.finished is not None or report.error is not None or self._turn_left <= 0:
            self._end_turn(report, step)
        return step

    def choose(self, thread: int) -> Slices | None:
        """The member in the midst of its turn, or the next one; None if that has nothing more to give."""
        if self._running is not None:
            return self._running
        member = self.members[self._turn % len(self.members)]
        length = member.place.member.turn * GROWTH ** (self._turn // len(self.members))
        if self.budget.max_iterations is not None:
            length = max(1, min(length, self.budget.max_iterations - self._done))
        self._turn += 1
        if member.exhausted:
            return None
        self._running, self._turn_left = member, length
        return member

    def slice(self, member: Slices, thread: int) -> Report:
        """One step of its run."""
        steps = iter((False, True))
        return member.slice(self.incumbent, lambda seconds: next(steps), budget=Budget(max_iterations=self._turn_left))

    def reward(self, member: Slices, report: Report) -> None:
        """Turns are the same whatever they find."""

    def pending(self) -> Assignment | None:
        """The best of the turn under way, which a step gives when the turn ends: the clock decides where it is cut."""
        return None if self._running is None else self._running.best

    def summary(self) -> tuple[str, ...]:
        """What was done, a line each."""
        if (found := self.pending()) is not None and self._running is not None:
            self.incumbent.offer(found, self._running.name, 0.0)
        return super().summary()

    def state_dict(self) -> State:
        """Whose turn it is and what is known; between turns no member runs."""
        members = {member.name: [member.rounds, member.exhausted] for member in self.members}
        return {**self.incumbent.state_dict(), "turn": self._turn, "done": self._done, "members": members}

    def load_state_dict(self, state: State) -> None:
        """Go on with the next turn; of a search with other limits or members only what it knew is of use."""
        self.incumbent.load_state_dict(state)
        if state.get("members", {}).keys() != {member.name for member in self.members}:
            return
        self._turn, self._done, self._reported = state["turn"], state["done"], self.incumbent.bound
        for member in self.members:
            member.resume(*state["members"][member.name])

    def _end_turn(self, report: Report, step: Step) -> None:
        """Share what the turn has found."""
        member, incumbent = self._running, self.incumbent
        assert member is not None
        self._running = None
        member.close()
        self.tell_failure(report)
        if member.best is not None and incumbent.offer(member.best, member.name, 0.0) > 0:
            assignment, cost = incumbent.best()
            assert assignment is not None
            step.best, step.best_cost = assignment.copy(), float(cost)
        if report.finished is Status.OPTIMAL:  # what it found, hence the incumbent, is optimal
            incumbent.raise_bound(incumbent.cost, member.name)
        if incumbent.bound > self._reported:
            step.bound = self._reported = incumbent.bound
        if report.finished is Status.INFEASIBLE:
            step.finished = Status.INFEASIBLE
        elif incumbent.proved:
            step.finished = Status.OPTIMAL
        step.records.append(record_of(member.name, member.best_cost))
