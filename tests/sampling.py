"""A solver for testing the driver: independent random assignments, a block at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget, Search, Solver, State, Step


@dataclass(frozen=True, kw_only=True)
class Sampling(Solver):
    """Draws `block` assignments a step."""

    checkpoints: ClassVar[bool] = True
    block: int = 10
    lie: float = 0.0
    """Added to the reported cost, to see whether the driver notices."""
    bound: float | None = None

    def start(
        self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None
    ) -> SamplingSearch:
        return SamplingSearch(self, problem, seed)


class SamplingSearch(Search):
    """The search of `Sampling`; remembers whether it was closed."""

    closed = 0

    def __init__(self, solver: Sampling, problem: Problem, seed: int):
        self.solver, self.problem, self.rng = solver, problem, generator(seed)

    def step(self) -> Step:
        rows = self.rng.integers(0, self.problem.domain_sizes, (self.solver.block, self.problem.num_variables))
        costs = self.problem.cost(rows)
        best = int(np.argmin(costs))
        return Step(
            costs=costs, best=rows[best], best_cost=float(costs[best]) + self.solver.lie, bound=self.solver.bound
        )

    def state_dict(self) -> State:
        return {"rng": self.rng.bit_generator.state, "array": np.arange(3)}

    def load_state_dict(self, state: State) -> None:
        if state["array"].tolist() != [0, 1, 2]:
            raise ValueError("an array of another search")
        self.rng.bit_generator.state = state["rng"]

    def close(self) -> None:
        type(self).closed += 1
