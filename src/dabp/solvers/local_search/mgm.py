"""The maximum gain message algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.distributed import mgm
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.local_costs.local_costs import LocalCosts
from dabp.solvers.local_search.local_search import LocalSearch
from dabp.solvers.stopped import ask


@dataclass(frozen=True, kw_only=True)
class Mgm(Solver):
    """MGM, maximum gain messages (Maheswaran, Pearce & Tambe 2004).

    In each iteration every variable tells its neighbours how much its best change would gain, and changes if nobody
    among them gains more (of equals, the first in order). The cost never rises, and it ends where no single change
    helps. Forbidden combinations weigh more than anything else.

    A baseline of the DCOP literature; `annealing` and `tabu` find better answers.
    """

    checkpoints: ClassVar[bool] = True

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _MgmSearch(problem, seed, budget, initial)


class _MgmSearch(LocalSearch):
    messages_per_neighbour = 2

    def __init__(self, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        self._chosen = np.zeros(problem.num_variables, dtype=np.int64)
        self._gain = np.zeros(problem.num_variables, dtype=np.int64)
        self._done = False

    def table(self, problem: Problem, guard: Guard) -> LocalCosts:
        """Violating a factor weighs more than all finite costs at a variable from the start."""
        ask(guard)
        return LocalCosts(problem, guard, lexicographic=True)

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Rounds in which all choose, then the best of each neighbourhood moves."""
        rounds = mgm(self.local.costs, self.state, self._chosen, self._gain, lowest)
        self._done = rounds < 0
        return abs(rounds)

    @property
    def done(self) -> bool:
        """Nobody gains anything."""
        return self._done
