"""What the local searches after the runs of `bp-learned` share: they go on from a run's answer on one table."""

from __future__ import annotations

from typing import Any

from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.local_costs.colouring import LARGE
from dabp.solvers.local_costs.shared_tables import shared_table
from dabp.solvers.stopped import Stopped

ENTRIES = 400_000
"""Of scopes at most: on larger problems a single run takes all the time there is."""


def may_search(problem: Problem) -> bool:
    """Whether local search may add to runs: not where there is but one assignment, nor on problems so large."""
    small = problem.num_variables < LARGE and len(problem.scope_variables) <= ENTRIES
    return small and bool((problem.domain_sizes > 1).any())


class OnTable:
    """A table of local costs, made when it is first needed, and a state on it."""

    def __init__(self, problem: Problem, guard: Guard):
        self._problem, self._guard = problem, guard
        self._table: Any = None

    def prepared(self) -> bool:
        """Whether there is a table to move on."""
        if self._table is None:
            try:
                self._table = shared_table(self._problem, self._guard)
            except Stopped:
                return False  # the solve is about to end
            self._state = self._table.state(1)
            self.lay_out()
        return not self._table.infeasible

    def lay_out(self) -> None:
        """What else is needed, once there is a table."""

    def put(self, start: Assignment, chance: float) -> None:
        """Go on from an assignment, with random numbers that follow from one between 0 and 1."""
        self._state.random[:] = int(chance * 2**63) + 1
        self._state.tally["feasible"] = 0
        self._table.put(self._state, self._table.arranged(start))
        self._table.remember(self._state)

    @property
    def lowest(self) -> int:
        """The least cost since then, in units."""
        return int(self._state.tally["best"]) if self._state.tally["feasible"] else NOTHING

    def best(self) -> Assignment | None:
        """The best since then, None if all was forbidden."""
        return self._table.best(self._state) if self._state.tally["feasible"] else None
