"""Simulated annealing with heat-bath updates."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver, State
from dabp.solvers.clock import Clock
from dabp.solvers.local_costs.temperatures import SAMPLE, Cycle, whole_cycle
from dabp.solvers.local_search.cycle_lengths import CycleLengths
from dabp.solvers.local_search.local_search import LocalSearch

QUENCH = 8
"""Sweeps at temperature 0 that begin the search and end each cycle."""

LONGEST = 1e12
"""Sweeps of the longest cycle."""


@dataclass(frozen=True, kw_only=True)
class Annealing(Solver):
    """Simulated annealing with heat-bath updates, in cycles of many lengths.

    A sweep (one iteration) draws a new value for each variable in turn from P(a) ∝ exp(−L[i, a] / T), where L[i, a]
    is the cost of the factors at i if it took a (Geman & Geman 1984). Binary variables with pairwise factors are
    offered a flip instead, made with probability min(1, exp(−Δ / T)) (Metropolis). In a cycle the temperature T falls
    from `hot` to `cold`, slowly where the assignment takes shape and fast where it has; warm sweeps, which take longer,
    are fewer. Whether one slow cooling or many quick ones are better is learned from what cycles of several lengths
    find (`cycle_lengths`); the last one is stretched to end with the time or the iterations there are. Cycles start
    from random assignments, every third, shorter one from the incumbent and half as hot (on a log scale). Violations
    are penalised, and weigh more after each cycle that ends with them. Variables that must all differ (assignments,
    orders) are also offered an exchange of their values with another one's.

    From 50,000 variables on a sweep goes through classes of variables that share no factor (`colouring`), which is up
    to twice as fast, and the best assignment is looked for after each sweep instead of each move.

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
        Every cycle of this number starts from the incumbent: 3 = every third; 0 = none.
    """

    checkpoints: ClassVar[bool] = True

    hot: float | None = None
    cold: float | None = None
    cycle: int = 1000
    reheat_every: int = 3

    def __post_init__(self) -> None:
        for name in ("hot", "cold"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise ParameterError(f"{name} must be finite and above 0, got {value}")
        if self.hot is not None and self.cold is not None and self.hot < self.cold:
            raise ParameterError(f"hot must be at least cold, got hot={self.hot}, cold={self.cold}")
        if self.cycle < 1:
            raise ParameterError(f"cycle must be at least 1 sweep, got {self.cycle}")
        if self.reheat_every < 0:
            raise ParameterError(f"reheat_every must be at least 0, got {self.reheat_every}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with a descent from `initial` or a random assignment."""
        return AnnealingSearch(self, problem, seed, budget, initial)


class AnnealingSearch(LocalSearch):
    """Cycles of sweeps, one after the other."""

    attributes = (*LocalSearch.attributes, "_cycle", "_length", "_swept", "_lowest", "_reheated")

    def __init__(self, solver: Annealing, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        super().__init__(problem, seed, budget, initial)
        self._solver = solver
        self._clock, self._resumed_at = Clock(), 0
        if self.stopped is None:
            self._noise = self.local.noise(self.rng)
        self._cycle, self._length, self._swept, self._lowest = 0, QUENCH, 0, NOTHING
        few = solver.cycle if budget.max_iterations is None else budget.max_iterations // 20
        self._lengths = CycleLengths(min(solver.cycle, max(few, 4 * QUENCH)))
        self._reheated = True
        """Whether the result of the present cycle says nothing about its length."""
        self._whole = self._cooling = Cycle(0.0, 0.0, 0.0)
        """The temperatures of cycles from scratch, and of the present cycle, in units."""

    def begin(self, assignment: Assignment) -> None:
        """Continue from an assignment, with different values for variables that must all differ."""
        super().begin(self.local.arranged(assignment))

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Sweep on in this cycle, or to its end."""
        count = min(len(lowest), self._length - self._swept)
        self.sweep(self.state, self._temperatures(count), lowest[:count])
        self._swept += count
        self._lowest = min(self._lowest, int(lowest[:count].min(initial=NOTHING)))
        if self._swept == self._length:
            self._next_cycle(count)
        return count

    def sweep(self, state: Any, temperatures: NDArray[np.float64], lowest: NDArray[np.int64]) -> None:
        """A sweep at each temperature."""
        self.local.sweep(state, self._noise, temperatures, lowest)

    def _temperatures(self, count: int) -> NDArray[np.float64]:
        """The next `count` temperatures, in units; 0 in the last few of a cycle."""
        sweeps = np.arange(self._swept, self._swept + count)
        slow = self._length - QUENCH
        return np.where(sweeps < slow, self._cooling.cooled(sweeps / max(slow, 1), self.local.cooling_power), 0.0)

    def _next_cycle(self, uncounted: int) -> None:
        """Begin the next; the last sweeps of the one before are not in `iterations` yet."""
        if self._cycle == 0:
            self.calibrate()
        if not self._reheated:
            self._lengths.record(math.inf if self._lowest == NOTHING else float(self._lowest))
        if self.state.tally["violations"] > 0:
            self.local.strengthen(self.state)
        self._cycle += 1
        self._swept, self._lowest = 0, NOTHING
        self.collect()
        self._begin_cycle(self._left(uncounted))

    def _begin_cycle(self, left: float) -> None:
        """Begin a cycle of varied temperatures: which part of the range decides differs from problem to problem."""
        every, length = self._solver.reheat_every, self._lengths.choose(left, self.rng)
        self._reheated = bool(every) and self.incumbent is not None and self._cycle % every == 0 and length < left
        top, bottom, end = self._whole
        if self._solver.hot is None:
            top *= self.rng.uniform(0.85, 1.2)
        if self._solver.cold is None:
            bottom = min(bottom * math.exp(self.rng.uniform(-0.4, 0.4)), top)
        if self._reheated:
            length *= 1 / 3
            top = math.sqrt(top * bottom)
        self._cooling = Cycle(top, bottom, end)
        self._length = int(max(QUENCH + 1, min(length, LONGEST)))
        start = self.incumbent if self._reheated else None
        self.begin(self.local.random_assignment(self.rng) if start is None else start)

    def _left(self, uncounted: int) -> float:
        """Sweeps left to the limits, at the speed so far."""
        if self.remaining is not None:
            return max(1, self.remaining - uncounted)
        if self.budget.time_limit is None or self._cycle <= 3:
            return math.inf
        speed = (self.iterations - self._resumed_at) / self._clock.now
        return max(1.0, 0.97 * (self.budget.time_limit - self._clock.now) * speed)

    def calibrate(self) -> None:
        """Find the range of temperatures, in units, from the differences of cost around the local minimum reached."""
        scale, solver = self.local.units.scale, self._solver
        given = (None if each is None else each * scale for each in (solver.hot, solver.cold))
        differences = self.local.differences(self.state, self.rng, SAMPLE)
        self._whole = whole_cycle(differences, self.local.hot_share, *given)

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The temperatures of cycles from scratch, and of the present one."""
        return {"temperatures": np.array([*self._whole, *self._cooling])}

    def state_dict(self) -> State:
        """Also the temperatures, and what is known of lengths."""
        return {**super().state_dict(), **self.numbers(), **self._lengths.state_dict()}

    def load_state_dict(self, state: State) -> None:
        """Continue in the middle of a cycle."""
        super().load_state_dict(state)
        self._lengths.load_state_dict(state)
        if not (0 <= self._swept < self._length <= LONGEST and self._cycle >= 0):
            raise ValueError("its cycle cannot be")
        temperatures = state["temperatures"].tolist()
        self._whole, self._cooling = Cycle(*temperatures[:3]), Cycle(*temperatures[3:])
        if not all(0 <= each < 1e250 for each in temperatures) or self._cooling.bottom > 4 * self._cooling.top:
            raise ValueError("its temperatures cannot be")
        self._resumed_at = self.iterations
