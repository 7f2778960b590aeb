"""The distributed stochastic algorithm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.local_search.distributed import dsa
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.local_costs.local_costs import LocalCosts
from dabp.solvers.local_search.local_search import LocalSearch
from dabp.solvers.stopped import ask

_SIDEWAYS = {"A": 0, "B": 1, "C": 2}


@dataclass(frozen=True, kw_only=True)
class Dsa(Solver):
    """DSA, the distributed stochastic algorithm (Zhang, Wang, Xing & Wittenburg 2005).

    In each iteration every variable looks for its best value given the others' last ones; if that lowers the cost of
    its factors it takes it with some probability, all at the same time. Forbidden combinations weigh more than
    anything else. It ends when nobody wants to change.

    A baseline of the DCOP literature; `annealing` and `tabu` find better answers.

    Parameters
    ----------
    probability
        Of making a change that is wanted.
    variant
        Who also changes to another value of equal cost: ``A`` nobody, ``B`` those whose factors are not all at
        their least (in conflict), ``C`` everybody.
    """

    checkpoints: ClassVar[bool] = True

    probability: float = 0.7
    variant: str = "B"

    def __post_init__(self) -> None:
        if not 0 < self.probability <= 1:
            raise ParameterError(f"probability is in (0, 1], not {self.probability}")
        if self.variant not in _SIDEWAYS:
            raise ParameterError(f"variant is A, B or C, not {self.variant!r}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _DsaSearch(self, problem, seed, budget, initial)


class _DsaSearch(LocalSearch):
    messages_per_neighbour = 1

    def __init__(self, solver: Dsa, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        self._solver = solver
        self._chosen = np.zeros(problem.num_variables, dtype=np.int64)
        self._done = False

    def table(self, problem: Problem, guard: Guard) -> LocalCosts:
        """Violating a factor weighs more than all finite costs at a variable from the start."""
        ask(guard)
        return LocalCosts(problem, guard, lexicographic=True)

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Rounds in which all choose, then all who will move."""
        solver = self._solver
        sideways = _SIDEWAYS[solver.variant]
        rounds = dsa(
            self.local.costs, self.state, self._chosen, self.local.units.floors, lowest, solver.probability, sideways
        )
        self._done = rounds < 0
        return abs(rounds)

    @property
    def done(self) -> bool:
        """Nobody wants to change."""
        return self._done
