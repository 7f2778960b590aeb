"""Simulated annealing with heat-bath updates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.local_search.columns import VIOLATIONS
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver, State
from dabp.solvers.clock import Clock
from dabp.solvers.local_search.search import LocalSearch
from dabp.solvers.local_search.temperatures import temperature_range
from dabp.solvers.luby import luby

QUENCH = 8
"""Sweeps at temperature 0 that begin the search and end each cycle."""

LONGEST = 1e12
"""Sweeps of the longest cycle."""

SAMPLE = 2000
"""Variables whose differences of cost temperatures are found from."""

LONGEST_DOUBLED = 60
"""Long cycles that are each twice as long as the one before; no clock outlives so many."""

STRETCH = 2.5
"""A long cycle takes all that is left if that is less than this many times its length."""


@dataclass(frozen=True, kw_only=True)
class Annealing(Solver):
    """Simulated annealing with heat-bath updates, in cycles of many lengths.

    A sweep (one iteration) draws a new value for each variable in turn from P(a) ∝ exp(−L[i, a] / T), where L[i, a]
    is the cost of the factors at i if it took a (Geman & Geman 1984). Binary variables with pairwise factors are
    offered a flip instead, made with probability min(1, exp(−Δ / T)) (Metropolis). In a cycle the temperature T falls
    geometrically from `hot` to `cold`. Half of the sweeps go to cycles that double in length, the last of them
    stretched to end with the time or the iterations there are; the other half to short ones (`cycle` times Luby's 1, 1,
    2, 1, 1, 2, 4 …), since nobody knows beforehand whether one slow cooling or many quick ones are better. Cycles start
    from random assignments, every third short one from the incumbent and half as hot (on a log scale). Violations are
    penalised, and weigh more after each cycle that ends with them.

    Good on problems with up to a few thousand variables; it proves nothing.

    Parameters
    ----------
    hot, cold
        Temperatures at which a cycle begins and ends, in units of cost; by default found from the differences of cost
        around a local minimum: where a quarter (binary variables: a tenth) and a hundredth of the updates would go
        uphill, a thousandth where differences come in steps; varied a little from cycle to cycle.
    cycle
        Sweeps of the shortest cycle; a twentieth of all iterations if that is less.
    reheat_every
        Every so many short cycles start from the incumbent; 0 = never.
    """

    checkpoints: ClassVar[bool] = True
    kernels: ClassVar[tuple[str, ...]] = ("annealing", "annealing-wide", "annealing-binary")

    hot: float | None = None
    cold: float | None = None
    cycle: int = 1000
    reheat_every: int = 3

    def __post_init__(self) -> None:
        for name in ("hot", "cold"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ParameterError(f"{name} is a temperature above 0, not {value}")
        if self.hot is not None and self.cold is not None and self.hot < self.cold:
            raise ParameterError(f"hot ({self.hot}) is not below cold ({self.cold})")
        if self.cycle < 1:
            raise ParameterError(f"cycle is at least 1 sweep, not {self.cycle}")
        if self.reheat_every < 0:
            raise ParameterError(f"reheat_every is at least 0, not {self.reheat_every}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with a descent from `initial` or a random assignment."""
        return AnnealingSearch(self, problem, seed, budget, initial)


class AnnealingSearch(LocalSearch):
    """Cycles of sweeps, one after the other."""

    def __init__(self, solver: Annealing, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        self._solver = solver
        self._clock, self._resumed_at = Clock(), 0
        if self.stopped is None:
            self._noise = self.local.noise(self.rng)
        self._cycle, self._length, self._swept = 0, QUENCH, 0
        few = solver.cycle if budget.max_iterations is None else budget.max_iterations // 20
        self._shortest = min(solver.cycle, max(few, 4 * QUENCH))
        self._longs = self._shorts = self._long_sweeps = self._short_sweeps = 0
        self._hot = self._cold = self._long_cold = self._top = self._bottom = 0.0

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Sweep on in this cycle, or to its end."""
        count = min(len(lowest), self._length - self._swept)
        self.local.sweep(self.state, self._noise, self._temperatures(count), lowest[:count])
        self._swept += count
        if self._swept == self._length:
            self._next_cycle(count)
        return count

    def _temperatures(self, count: int) -> NDArray[np.float64]:
        """The next `count` temperatures, in units: geometric from top to cold, 0 in the last few."""
        sweeps = np.arange(self._swept, self._swept + count)
        cooling = max(self._length - QUENCH, 1)
        temperatures = self._top * (self._bottom / max(self._top, 1e-300)) ** np.minimum(sweeps / cooling, 1.0)
        return np.where(sweeps < self._length - QUENCH, temperatures, 0.0)

    def _next_cycle(self, uncounted: int) -> None:
        """Begin the next; the last sweeps of the one before are not in `iterations` yet."""
        if self._cycle == 0:
            self._calibrate()
        if self.state.tally[VIOLATIONS] > 0:
            self.local.strengthen(self.state)
        self._cycle += 1
        self._swept = 0
        self.collect()
        left = self._left(uncounted)
        if self._long_sweeps <= self._short_sweeps:
            self._begin_long(left)
        else:
            self._begin_short(left)

    def _begin_long(self, left: float) -> None:
        """Twice as long as the last, or as all that is left, from a random assignment."""
        length = self._shortest * 2.0 ** min(self._longs - 1, LONGEST_DOUBLED)
        self._length = _sweeps(left if left < STRETCH * length else length)
        self._longs += 1
        self._long_sweeps += self._length
        self._top, self._bottom = self._hot, self._long_cold
        self.begin(self.local.random_assignment(self.rng))

    def _begin_short(self, left: float) -> None:
        """Of varied temperatures, since which part of the range decides differs from problem to problem."""
        self._shorts += 1
        self._length = _sweeps(min(self._shortest * luby(self._shorts), left))
        self._short_sweeps += self._length
        self._top, self._bottom = self._hot, self._cold
        if self._solver.hot is None:
            self._top *= self.rng.uniform(0.5, 1.1)
        if self._solver.cold is None:
            self._bottom *= math.exp(self.rng.uniform(0.0, max(0.0, math.log(self._top / (4 * self._cold)))))
        every = self._solver.reheat_every
        if self.incumbent is not None and every and self._shorts % every == 1 % every:
            self._top = math.sqrt(self._top * self._bottom)
            self.begin(self.incumbent)
        else:
            self.begin(self.local.random_assignment(self.rng))

    def _left(self, uncounted: int) -> float:
        """Sweeps left to the limits, at the speed so far."""
        if self.remaining is not None:
            return max(1, self.remaining - uncounted)
        if self.budget.time_limit is None or self._cycle <= 3:
            return math.inf
        speed = (self.iterations - self._resumed_at) / self._clock.now
        return 0.97 * (self.budget.time_limit - self._clock.now) * speed

    def _calibrate(self) -> None:
        """Find the range of temperatures, in units, from the differences of cost around the local minimum reached."""
        scale, solver = self.local.units.scale, self._solver
        found = temperature_range(self.local.differences(self.state, self.rng, SAMPLE), self.local.hot_share)
        self._hot = found.hot if solver.hot is None else solver.hot * scale
        self._cold = min(max(found.cold, self._hot / 50), self._hot / 5) if solver.cold is None else solver.cold * scale
        self._hot = max(self._hot, self._cold)
        self._long_cold = self._cold
        if solver.cold is None:
            warmer = max(self._cold, math.sqrt(self._cold * self._hot / 4))
            self._long_cold = self._cold**found.stepped * warmer ** (1.0 - found.stepped)

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The temperatures."""
        return {"temperatures": np.array([self._hot, self._cold, self._long_cold, self._top, self._bottom])}

    def state_dict(self) -> State:
        """Where the cycle stands, too."""
        own = {name: getattr(self, name) for name in self._saved}
        return {**super().state_dict(), **own}

    def load_state_dict(self, state: State) -> None:
        """Continue in the middle of a cycle."""
        super().load_state_dict(state)
        for name in self._saved:
            setattr(self, name, state[name])
        counts = (self._cycle, self._longs, self._shorts, self._long_sweeps, self._short_sweeps)
        temperatures = (self._hot, self._cold, self._long_cold, self._top, self._bottom)
        if not (0 <= self._swept < self._length <= LONGEST and min(counts) >= 0 and self._longs < 64):
            raise ValueError("its cycle cannot be")
        if not all(0 <= each < 1e250 for each in temperatures) or self._bottom > 4 * self._top:
            raise ValueError("its temperatures cannot be")
        self._resumed_at = self.iterations

    _saved = (
        *("_cycle", "_length", "_swept", "_longs", "_shorts", "_long_sweeps", "_short_sweeps"),
        *("_hot", "_cold", "_long_cold", "_top", "_bottom"),
    )


def _sweeps(length: float) -> int:
    """A length that a cycle can have."""
    return int(max(QUENCH + 1, min(length, LONGEST)))
