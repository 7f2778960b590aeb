"""The distributed stochastic algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.local_search.distributed import dsa
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.local_search.distributed_search import DistributedSearch


@dataclass(frozen=True, kw_only=True)
class Dsa(Solver):
    """DSA, the distributed stochastic algorithm (Zhang, Wang, Xing & Wittenburg 2005).

    In each iteration every variable finds its best value given the others' last ones; if that lowers the cost of its
    factors it takes it with some probability, all at the same time. Forbidden combinations weigh more than anything
    else. It ends when no variable would change.

    A baseline of the DCOP literature; `annealing` and `tabu` find better answers.

    Parameters
    ----------
    probability
        The probability of a change that lowers the cost.
    variant
        Which variables also change to another value of equal cost: ``A`` none, ``B`` those whose factors are not all at
        their least (in conflict), ``C`` all.
    """

    checkpoints: ClassVar[bool] = True

    probability: float = 0.7
    variant: str = "B"

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise ParameterError(f"probability is in (0, 1], not {self.probability}")
        if self.variant not in ("A", "B", "C"):
            raise ParameterError(f"variant is A, B or C, not {self.variant!r}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _DsaSearch(self, problem, seed, budget, initial)


class _DsaSearch(DistributedSearch):
    messages_per_neighbour = 1

    def __init__(self, solver: Dsa, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        self._probability = solver.probability
        if self.stopped is None:  # a variable with a local cost above its floor may change at equal cost
            everywhere = {"A": NOTHING, "C": -NOTHING}.get(solver.variant)
            floors = self.local.units.floors
            self._floors = floors if everywhere is None else np.full_like(floors, everywhere)

    def rounds(self, lowest: NDArray[np.int64]) -> int:
        return int(dsa(self.local.costs, self.state, self._chosen, self._floors, lowest, self._probability))
