"""One cooling from a given assignment: what annealing makes of the answer of another search."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.local_costs.temperatures import Cycle
from dabp.solvers.local_search.annealing import QUENCH, Annealing, AnnealingSearch


@dataclass(frozen=True, kw_only=True)
class Cooling(Solver):
    """A single cycle of annealing from an assignment, warm enough to change it and not so hot as to forget it.

    Belief propagation decides most variables well, and the last ones at random; cooling from about half of the
    temperature that annealing begins with decides those anew. The temperature falls with the time spent, so that the
    cycle ends when it should at any speed.

    Parameters
    ----------
    heat
        The first temperature, as a part of the one that annealing would begin with.
    seconds
        How long it takes.
    """

    heat: float = 0.6
    seconds: float = 1.0

    def __post_init__(self) -> None:
        for name in ("heat", "seconds"):
            if not 0 < getattr(self, name) < np.inf:
                raise ParameterError(f"{name} is a number above 0, not {getattr(self, name)}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with a descent from `initial` or a random assignment."""
        return CoolingSearch(self, problem, seed, budget, initial)


class CoolingSearch(AnnealingSearch):
    """Annealing with one cycle, whose temperatures follow the time spent."""

    def __init__(self, cooling: Cooling, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(Annealing(), problem, seed, budget, initial)
        self._cooling = cooling
        self._spent, self._sweep_seconds = 0.0, 0.0
        self._ended = False

    @property
    def done(self) -> bool:
        """Whether the cycle has ended."""
        return self._ended

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Sweep on; the first and the last sweeps are at temperature 0."""
        last = self._spent >= self._cooling.seconds
        quench = last or self._cycle == 0
        count = min(len(lowest), QUENCH) if quench else len(lowest)
        started = working_seconds()
        self.local.sweep(self.state, self._noise, self._temperatures(count), lowest[:count], self._sweepers)
        self._sweep_seconds = (working_seconds() - started) / count
        self._spent += self._sweep_seconds * count
        if self._cycle == 0:
            self._calibrate()
            self._top = self._cooling.heat * self._hot
            self._bottom, self._end = min(self._warm, self._top), min(self._cold, self._top)
            self._cycle = 1
        self._ended = last
        return count

    def _temperatures(self, count: int) -> NDArray[np.float64]:
        """Geometric in the time that the sweeps will have taken, if each takes as long as the last ones did."""
        if self._cycle == 0 or self._spent >= self._cooling.seconds:
            return np.zeros(count)
        parts = (self._spent + self._sweep_seconds * np.arange(count)) / self._cooling.seconds
        return Cycle(self._top, self._bottom, self._end).cooled(np.asarray(parts, dtype=np.float64), 0.0)
