"""What is solved before it begins: kept apart from elimination, so that it needs no compiled code."""

from __future__ import annotations

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import nullary_constant
from dabp.solvers.base import Search, State, Step
from dabp.solvers.status import Status


class Settled(Search):
    """A problem without variables, or that forbids everything: nothing is left to decide."""

    def __init__(self, problem: Problem):
        self._problem = problem

    def step(self) -> Step:
        """Its only assignment."""
        if contradicted(self._problem):
            return Step(finished=Status.INFEASIBLE)
        nothing = np.zeros(0, dtype=np.int64)
        cost = float(self._problem.cost(nothing))
        return Step(np.array([cost]), nothing, cost, bound=cost, finished=Status.OPTIMAL)

    def state_dict(self) -> State:
        """Nothing is under way, ever."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """There is nothing to take up."""


def contradicted(problem: Problem) -> bool:
    """Whether a factor without variables forbids everything."""
    return nullary_constant(problem) == np.inf
