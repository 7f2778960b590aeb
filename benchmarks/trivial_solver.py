"""A solver that does next to nothing, for measuring what surrounds a run."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.status import Status


class Draws(Search):
    """A random assignment per step, a few steps."""

    def __init__(self, problem: Problem, seed: int, steps: int, pause: float):
        self.problem, self.rng, self.left, self.pause = problem, generator(seed), steps, pause

    def step(self) -> Step:
        """Draw one."""
        time.sleep(self.pause)
        self.left -= 1
        drawn = self.rng.integers(self.problem.domain_sizes)
        cost = float(self.problem.cost(drawn))
        return Step(np.array([cost]), drawn, cost, finished=Status.CONVERGED if self.left <= 0 else None)


@dataclass(frozen=True, kw_only=True)
class Trivial(Solver):
    """Draws `steps` assignments, `pause` seconds apart."""

    steps: int = 3
    pause: float = 0.0

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin."""
        return Draws(problem, seed, self.steps, self.pause)
