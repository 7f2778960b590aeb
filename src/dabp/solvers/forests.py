"""Moves that free a random induced forest of a problem's variables and set it to its joint optimum."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.entries import Entries
from dabp.kernels.local_search.forest_move import Forest, ForestCosts, forest_move, penalised_cost
from dabp.problem import Assignment, Problem
from dabp.problem.incidence import Incidence


def entries_of(incidence: Incidence) -> Entries:
    """A problem's entries as kernels read them."""
    return Entries(*(getattr(incidence, name) for name in Entries._fields))


class Forests:
    """Moves of forests on one problem; forbidden combinations have finite costs above any finite total."""

    def __init__(self, problem: Problem):
        whole = Incidence(problem)
        finite = np.isfinite(problem.pool)
        # A forbidden combination costs more than everything else together: moves remove it where they can.
        costs = np.where(finite, problem.pool, 0.0)
        penalty = 1.0 + 2.0 * float(np.abs(costs).max(initial=0.0)) * max(1, problem.num_factors)
        self.columns = ForestCosts(
            entries=entries_of(whole),
            unary=np.where(np.isfinite(whole.unary), whole.unary, penalty),
            unary_start=whole.unary_start,
            pool=np.where(finite, problem.pool, penalty),
        )
        self._forest = Forest.empty(self.columns)

    @property
    def last_costs(self) -> NDArray[np.float64]:
        """The costs that the last move compared."""
        return self._forest.cost

    def cost(self, values: Assignment) -> float:
        """The cost of an assignment, forbidden combinations at their penalty."""
        return float(penalised_cost(self.columns, values))

    def move(self, values: Assignment, state: NDArray[np.uint64], temperature: float = 0.0) -> None:
        """Set another forest to its optimum given the rest, in place; at a temperature that of perturbed costs."""
        forest_move(self.columns, self._forest, temperature, state, values)
