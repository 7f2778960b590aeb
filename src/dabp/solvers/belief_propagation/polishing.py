"""What is done with the last assignment of a soft run of `bp-learned`."""

from __future__ import annotations

import numpy as np

from dabp.graph.islands import crossed, has_islands
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget
from dabp.solvers.descent import Descent
from dabp.solvers.forests import Forests

ITERATIONS, PATIENCE = 250, 15
"""A run has a move for each so many iterations, and as many moves without a better assignment end them."""

_STREAM = 0xF07E


class Polish:
    """Descent, each variable in turn, and on sparse problems moves of whole forests."""

    def __init__(self, problem: Problem, seed: int, budget: Budget):
        self._problem, self._seed, self._guard = problem, seed, budget.guard
        self._descent = Descent(problem)
        self._forests: Forests | None = None
        self.sparse = has_islands(problem)
        """Whether there is more to do than to descend."""

    def polished(self, start: Assignment, run: int, iterations: int) -> Assignment:
        """What a run of so many iterations decoded last, or better; the same for the same seed and run."""
        values = self.descended(start)
        moves = iterations // ITERATIONS
        return self._moved(values, run, moves, self._guard) if self.sparse and moves else values

    def descended(self, start: Assignment) -> Assignment:
        """A local minimum near by."""
        return self._descent.descended(start, self._guard)

    def crossed(self, best: Assignment, last: Assignment) -> Assignment:
        """The better of both on each island; worth it on sparse problems only, as elsewhere there is one."""
        return crossed(self._problem, best, last)

    def _moved(self, values: Assignment, run: int, moves: int, guard: Guard) -> Assignment:
        """After at most so many forests; as many as the guard allows."""
        if guard.over:
            return values
        if self._forests is None:
            self._forests = Forests(self._problem)
        state = generator(self._seed, _STREAM, run).integers(1, 2**63, size=1).astype(np.uint64)
        best, patience = self._forests.cost(values), PATIENCE
        for _ in range(moves):
            if guard.over or patience == 0:
                break
            self._forests.move(values, state)
            cost = self._forests.cost(values)
            best, patience = (cost, PATIENCE) if cost < best else (best, patience - 1)
        return values
