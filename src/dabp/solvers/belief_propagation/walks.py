"""Tabu walks from the answers of runs of `bp-learned` near the best assignment: most come back to it, some pass it."""

from __future__ import annotations

import numpy as np

from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.kernels.local_search.tabu_moves import Rules
from dabp.problem import Assignment
from dabp.solvers.belief_propagation.on_table import OnTable

MOST = 40_000
"""Moves of a walk at most, which has one for each variable and iteration of its run."""

TENURE = (0.1, 0.6)
"""Mean tenure, drawn anew for each walk, as a part of the number of variables."""

SHORTEST, LONGEST = 5, 1_000
"""Mean tenures at least and at most."""

MINIMA = 10
"""Local minima with violations before what is violated gains weight."""


class Walks(OnTable):
    """Always the best move of all, but never back for a while: from a run's answer, for as long as the run took."""

    def lay_out(self) -> None:
        """Room for the moves."""
        self._moves = self._table.moves(LONGEST)

    def walked(self, start: Assignment, iterations: int, part: float, chance: float) -> Assignment | None:
        """The best on a walk from the answer of a run of so many iterations; None if nothing is better than that.

        `part` and `chance` are numbers between 0 and 1 that were drawn for it.
        """
        if not self.prepared():
            return None
        variables = self._problem.num_variables
        moves = min(MOST, variables * iterations)
        tenure = TENURE[0] + (TENURE[1] - TENURE[0]) * part
        mean = int(min(max(SHORTEST, tenure * variables), LONGEST))
        self._state = self._table.state(1)  # what was violated on the last walk weighs no more than the rest
        self.put(start, chance)
        first = self.lowest
        self._table.open_all(self._state, self._moves)
        rules = Rules(moves, (mean + 1) // 2, mean, MINIMA, self._table.units.first_weight)
        self._table.tabu(self._state, self._moves, rules, np.full(1, NOTHING))
        return self.best() if self.lowest < first else None
