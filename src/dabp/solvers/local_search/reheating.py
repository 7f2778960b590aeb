"""Annealing that goes on from an answer: one cycle that begins less hot than annealing from scratch."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, State
from dabp.solvers.local_costs.temperatures import Cycle
from dabp.solvers.local_search.annealing import QUENCH, AnnealingSearch

if TYPE_CHECKING:
    from dabp.solvers.local_search.annealing import Annealing


class ReheatedSearch(AnnealingSearch):
    """One cycle, whose temperature falls with the part of the budget that was spent: iterations, or else seconds.

    Without a limit the cycle has as many sweeps as the shortest cycle of annealing.
    """

    def __init__(self, solver: Annealing, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(solver, problem, seed, budget, initial)
        self._timed = budget.max_iterations is None and budget.time_limit is not None
        sweeps = solver.cycle if budget.max_iterations is None else budget.max_iterations - 2 * QUENCH
        self._limit = float(max(sweeps, 1)) if not self._timed or budget.time_limit is None else budget.time_limit
        """Length of the cycle, in sweeps or in seconds."""
        self._spent = 0.0
        """Sweeps or seconds of the cycle so far, the last ones at temperature 0 included."""
        self._each = 1.0
        """Sweeps or seconds that a sweep takes."""

    @property
    def done(self) -> bool:
        """Whether the cycle and the last sweeps, at temperature 0, are over."""
        return self._cycle > 0 and self._spent >= self._limit + QUENCH * self._each

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Sweep on; the first and the last sweeps are at temperature 0."""
        ending = self._cycle == 0 or self._spent >= self._limit
        count = min(len(lowest), QUENCH - self._swept) if ending else len(lowest)
        started = working_seconds()
        self.local.sweep(self.state, self._noise, self._temperatures(count), lowest[:count], self._sweepers)
        if self._timed:
            self._each = max(working_seconds() - started, 1e-9) / count
        if self._cycle > 0 or self._timed:
            self._spent += self._each * count
        if self._cycle == 0:
            self._swept += count
            if self._swept == QUENCH:
                self._reheat()
        return count

    def _reheat(self) -> None:
        """Choose the temperatures of the cycle after the first descent."""
        assert self._solver.heat is not None
        self._calibrate()
        self._top = self._solver.heat * self._hot
        self._bottom, self._end = min(self._warm, self._top), min(self._cold, self._top)
        self._cycle, self._swept = 1, 0

    def _temperatures(self, count: int) -> NDArray[np.float64]:
        """The next `count` temperatures; 0 before the cycle and after it."""
        if self._cycle == 0:
            return np.zeros(count)
        parts = (self._spent + self._each * np.arange(count)) / self._limit
        cooled = Cycle(self._top, self._bottom, self._end).cooled(np.minimum(parts, 1.0), 0.0)
        return np.where(parts < 1.0, cooled, 0.0)

    def state_dict(self) -> State:
        """How much of the cycle is over, too."""
        return {**super().state_dict(), "_spent": self._spent, "_each": self._each}

    def load_state_dict(self, state: State) -> None:
        """Continue in the middle of the cycle."""
        super().load_state_dict(state)
        self._spent, self._each = float(state["_spent"]), float(state["_each"])
        if not (0 <= self._spent < np.inf and 0 < self._each < np.inf):
            raise ValueError("its cycle cannot be")
