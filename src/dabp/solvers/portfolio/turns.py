"""The portfolio when work is limited by iterations: members take turns, and the same seed gives the same result."""

from __future__ import annotations

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.result import Status
from dabp.solvers.base import Budget, Search, State, Step
from dabp.solvers.portfolio.explain import explain
from dabp.solvers.portfolio.incumbent import Incumbent
from dabp.solvers.portfolio.member import Kind, Member

GROWTH = 2
"""Each round of turns is this many times longer than the one before."""


class TurnSearch(Search):
    """Members in turn, each a new run of a fixed number of iterations that starts from what is known then.

    No clock decides anything: not the bandit, not a child process, not threads.
    """

    def __init__(self, problem: Problem, kinds: list[Kind], *, seed: int, budget: Budget, initial: Assignment | None):
        self._incumbent = Incumbent(problem)
        if initial is not None:
            self._incumbent.offer(initial, "the given start", 0.0)
        self._members = [Member(kind, problem, seed, number) for number, kind in enumerate(kinds)]
        self._left = budget.max_iterations
        self._turn, self._done = 0, 0
        self._told = -np.inf

    def step(self) -> Step:
        """One turn of one member."""
        ready = [member for member in self._members if not member.exhausted]
        if not ready:
            return Step(finished=Status.CONVERGED)
        member = self._members[self._turn % len(self._members)]
        length = member.kind.turn * GROWTH ** (self._turn // len(self._members))
        if self._left is not None:
            length = max(1, min(length, self._left - self._done))
        self._turn += 1
        if member.exhausted:
            return Step()
        report = member.slice(
            np.inf, self._incumbent, lambda: 0.0, np.inf, lambda: False, Budget(max_iterations=length)
        )
        member.close()
        step = Step(costs=np.concatenate([np.zeros(0), *report.costs]))
        self._done += len(step.costs)
        assignment, cost = self._incumbent.best()
        if report.gain > 0 and assignment is not None:
            step.best, step.best_cost = assignment.copy(), float(cost)
        if self._incumbent.bound > self._told:
            step.bound = self._told = self._incumbent.bound
        step.records.append({"member": member.kind.name, "cost": report.best if np.isfinite(report.best) else None})
        if report.finished is Status.INFEASIBLE:
            step.finished = report.finished
        elif self._incumbent.proved:
            step.finished = Status.OPTIMAL
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Share an assignment with all members."""
        self._incumbent.offer(assignment, "outside", 0.0)

    def summary(self) -> tuple[str, ...]:
        """What was done, a line each."""
        return tuple(explain(self._incumbent, self._members, [], None))

    def state_dict(self) -> State:
        """Whose turn it is and what is known; between turns no member runs."""
        members = [[member.rounds, member.exhausted] for member in self._members]
        return {**self._incumbent.state_dict(), "turn": self._turn, "done": self._done, "members": members}

    def load_state_dict(self, state: State) -> None:
        """Go on with the next turn."""
        self._incumbent.load_state_dict(state)
        self._turn, self._done, self._told = state["turn"], state["done"], self._incumbent.bound
        for member, (rounds, exhausted) in zip(self._members, state["members"], strict=True):
            member.resume(rounds, exhausted)

    def close(self) -> None:
        """End what runs."""
        for member in self._members:
            member.close()
