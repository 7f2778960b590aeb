"""A window of iterations: what it costs, which of its iterations are effective, and whether its costs have settled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.solvers.base import Step
from dabp.solvers.dabp.backend import Array, Unrolled

SETTLED = 1e-3
"""Costs whose standard deviation is at most this times their mean (at least 1) do not move any more."""


class Window:
    """Beliefs, assignments and costs of up to `length` iterations, which `unrolled` computes."""

    def __init__(self, problem: Problem, unrolled: Unrolled, length: int, learns: bool):
        self.problem, self.unrolled, self.length, self.learns = problem, unrolled, length, learns
        self.beliefs: list[Array] = []
        self.assignments: list[Assignment] = []
        self.costs: NDArray[np.float64] = np.zeros(0)
        self.skipped = False
        """Whether it could not be learned from."""

    @property
    def full(self) -> bool:
        """Whether it has all its iterations."""
        return len(self.beliefs) == self.length

    def add(self, beliefs: Array) -> None:
        """Take an iteration's beliefs and decode them (Eq. 4)."""
        self.beliefs.append(beliefs)
        self.assignments.append(beliefs.argmin(1))

    def block(self) -> Step:
        """The iterations since the last call: exact costs, and the best of their assignments."""
        fresh = self.assignments[len(self.costs) :]
        costs = np.asarray(self.problem.cost(np.array(fresh, dtype=np.int64))) if fresh else np.zeros(0)
        self.costs = np.concatenate([self.costs, costs])
        step, best = Step(costs), int(np.argmin(costs))
        if np.isfinite(costs[best]):
            step.best = fresh[best]
            step.best_cost = float(self.problem.cost(step.best))
        return step

    def effective(self, count: int) -> list[int]:
        """The `count` best iterations, of equal ones the earlier (Alg. 1, line 11).

        The first of a window is left out: its beliefs come from messages of the window before, through which no
        gradient flows.
        """
        order = 1 + np.argsort(self.costs[1:], kind="stable")
        return [int(t) for t in order[:count]]

    @property
    def settled(self) -> bool:
        """Whether costs have stopped to move, the first left out."""
        costs = self.costs[1:]
        if len(costs) < 2 or not np.isfinite(costs).all():
            return False
        return bool(costs.std(ddof=1) <= SETTLED * max(abs(costs.mean()), 1.0))
