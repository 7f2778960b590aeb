"""The portfolio when work is limited by iterations: members take turns, and the same seed gives the same result."""

from __future__ import annotations

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.solvers.auto.explain import explain
from dabp.solvers.auto.incumbent import Incumbent
from dabp.solvers.auto.kinds import LineUp
from dabp.solvers.auto.member import Member
from dabp.solvers.auto.plan import GROWTH
from dabp.solvers.base import Budget, Search, State, Step
from dabp.solvers.status import Status


class CountedSearch(Search):
    """Members in turn, each a new run of a fixed number of iterations that starts from what is known then.

    No clock decides anything: not the bandit, not a child process, not threads, and not where a turn is cut into
    steps, since what a turn has found is shared when it ends.
    """

    def __init__(self, problem: Problem, line: LineUp, *, seed: int, budget: Budget, initial: Assignment | None):
        self._incumbent = Incumbent(problem)
        if initial is not None:
            self._incumbent.offer(initial, "the given start", 0.0)
        self._members = [Member(kind, problem, seed, number) for number, kind in enumerate(line.kinds)]
        self._left = budget.max_iterations
        self._turn, self._done = 0, 0
        self._told = -np.inf
        self._notes = list(line.notes)
        self._running: Member | None = None
        self._turn_left = 0
        self._best: Assignment | None = None
        self._best_cost = np.inf

    @property
    def at_boundary(self) -> bool:
        """Between turns."""
        return self._running is None

    def step(self) -> Step:
        """A step of the member whose turn it is."""
        if all(member.exhausted for member in self._members):
            return Step(finished=Status.CONVERGED)
        member = self._running
        try:
            if member is None:
                member = self._begin()
                if member is None:
                    return Step()
            inner = member.step()
        except Exception as error:  # the others go on
            failed = member or self._members[(self._turn - 1) % len(self._members)]
            self._notes.append(f"{failed.kind.name} gave up: {error}")
            failed.exhausted = True
            return self._end(failed, Step())
        step = Step(costs=inner.costs)
        self._done += len(inner.costs)
        self._turn_left -= len(inner.costs)
        if inner.best is not None and inner.best_cost < self._best_cost:
            self._best, self._best_cost = inner.best, inner.best_cost
        if inner.bound is not None:
            self._incumbent.raise_bound(inner.bound, member.kind.name)
        if inner.finished is None and self._turn_left > 0:
            return step
        member.exhausted = member.exhausted or (inner.finished is not None and member.kind.once)
        step = self._end(member, step)
        if inner.finished is Status.INFEASIBLE:
            step.finished = Status.INFEASIBLE
        elif inner.finished is Status.OPTIMAL:  # then what it offered, hence the incumbent, is optimal
            self._incumbent.raise_bound(self._incumbent.cost, member.kind.name)
        if self._incumbent.proved and step.finished is None:
            step.finished = Status.OPTIMAL
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Share an assignment with all members."""
        self._incumbent.offer(assignment, "outside", 0.0)

    def pending(self) -> Assignment | None:
        """The best of the turn under way; it is told when the turn ends, as where turns are cut is up to the clock."""
        return None if self._running is None else self._best

    def summary(self) -> tuple[str, ...]:
        """What was done, a line each."""
        if self._running is not None and self._best is not None:
            self._incumbent.offer(self._best, self._running.kind.name, 0.0)
        return tuple(explain(self._incumbent, self._members, self._notes, None))

    def state_dict(self) -> State:
        """Whose turn it is and what is known; between turns no member runs."""
        members = {member.kind.name: [member.rounds, member.exhausted] for member in self._members}
        return {**self._incumbent.state_dict(), "turn": self._turn, "done": self._done, "members": members}

    def load_state_dict(self, state: State) -> None:
        """Go on with the next turn; of a search with other limits or members only what it knew is of use."""
        self._incumbent.load_state_dict(state)
        if state.get("members", {}).keys() != {member.kind.name for member in self._members}:
            return
        self._turn, self._done, self._told = state["turn"], state["done"], self._incumbent.bound
        for member in self._members:
            member.resume(*state["members"][member.kind.name])

    def close(self) -> None:
        """End what runs."""
        for member in self._members:
            member.close()

    # ---- inside --------------------------------------------------------------------------------

    def _begin(self) -> Member | None:
        """Start the next member's turn; None if it has nothing more to give."""
        member = self._members[self._turn % len(self._members)]
        length = member.kind.turn * GROWTH ** (self._turn // len(self._members))
        if self._left is not None:
            length = max(1, min(length, self._left - self._done))
        self._turn += 1
        if member.exhausted:
            return None
        self._best, self._best_cost, self._turn_left = None, np.inf, length
        member.start(self._incumbent, np.inf, Budget(max_iterations=length))
        self._running = member
        return member

    def _end(self, member: Member, step: Step) -> Step:
        """End the turn: share its best, and say what is new."""
        member.close()
        self._running = None
        if self._best is not None and self._incumbent.offer(self._best, member.kind.name, 0.0) > 0:
            assignment, cost = self._incumbent.best()
            assert assignment is not None
            step.best, step.best_cost = assignment.copy(), float(cost)
        if self._incumbent.bound > self._told:
            step.bound = self._told = self._incumbent.bound
        record = {"member": member.kind.name, "cost": self._best_cost if np.isfinite(self._best_cost) else None}
        step.records.append(record)
        return step
