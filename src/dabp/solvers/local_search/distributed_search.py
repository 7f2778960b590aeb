"""What DSA, MGM, MGM-2 and GDBA share: rounds of all variables at once, and an end where none of them changes."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget
from dabp.solvers.local_costs.local_costs import LocalCosts
from dabp.solvers.local_search.local_search import LocalSearch
from dabp.solvers.stopped import ask
from dabp.solvers.traffic import Traffic


class DistributedSearch(LocalSearch):
    """Rounds on a table in which violating a factor weighs more than all finite costs at the variables that move."""

    messages_per_neighbour: ClassVar[int]
    """Messages of one number each that a variable sends to each neighbour in a round."""
    movers: ClassVar[int] = 1
    """Variables of a factor that may move together."""

    def __init__(self, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        self._chosen = np.zeros(problem.num_variables, dtype=np.int64)
        self._done = False

    def table(self, problem: Problem, guard: Guard) -> LocalCosts:
        """A table of its own."""
        ask(guard)
        return LocalCosts(problem, guard, lexicographic=True, movers=self.movers)

    @abstractmethod
    def rounds(self, lowest: NDArray[np.int64]) -> int:
        """Do at most ``len(lowest)`` rounds; return how many, negative if no variable changes any more."""

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Rounds in which all variables choose at once, then all move."""
        rounds = self.rounds(lowest)
        self._done = rounds < 0
        return abs(rounds)

    @property
    def done(self) -> bool:
        """Whether no variable changes any more."""
        return self._done

    def traffic(self) -> Traffic | None:
        """The messages of all rounds."""
        if self.stopped is not None:
            return None
        count = self.iterations * self.messages_per_neighbour * len(self.local.costs.neighbours.variable)
        return Traffic(count, count)
