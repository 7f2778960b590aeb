"""The maximum gain message algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.distributed import mgm
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.local_search.distributed_search import DistributedSearch


@dataclass(frozen=True, kw_only=True)
class Mgm(Solver):
    """MGM, maximum gain messages (Maheswaran, Pearce & Tambe 2004).

    In each iteration every variable sends its neighbours what its best change would gain, and changes if none of them
    gains more (of equals, the first in order). The cost never rises, and it ends where no single change helps.
    Forbidden combinations weigh more than anything else.

    A baseline of the DCOP literature; `annealing` and `tabu` find better answers.
    """

    checkpoints: ClassVar[bool] = True

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _MgmSearch(problem, seed, budget, initial)


class _MgmSearch(DistributedSearch):
    messages_per_neighbour = 2

    def __init__(self, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        self._gain = np.zeros(problem.num_variables, dtype=np.int64)

    def rounds(self, lowest: NDArray[np.int64]) -> int:
        return int(mgm(self.local.costs, self.state, self._chosen, self._gain, lowest))
