"""Simulated annealing in NumPy, of many replicas at a time: there is nothing to compile.

`auto` begins with it on a machine whose kernels are not there yet, beside belief propagation in NumPy.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from dabp.errors import ParameterError
from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.local_costs.temperatures import SAMPLE, Differences, uphill_temperature
from dabp.solvers.local_search.replicas import Replicas

FIRST_CYCLE = 100
"""Sweeps of the first cycle; each later one takes twice as many as the one before."""

STRETCH = 2.5
"""A cycle takes all the time that is left if that is less than this many times what it would take."""

QUENCH = 6
"""Sweeps at temperature 0 that begin the search and end each cycle."""

HOT, COLD, COOLED = 0.25, 0.01, 1e-3
"""Shares of the updates in a local minimum that go uphill where a cycle begins and where it ends, which is at no less
than this part of where it begins."""

REPLICAS, GATHERED = 64, 1_000_000
"""Replicas at most, and costs that a sweep should gather: with fewer the time goes into NumPy's calls."""

HARDER = 2.0
"""How many times more violations cost after each cycle in which all replicas ended with some."""


@dataclass(frozen=True, kw_only=True)
class PlainAnnealing(Solver):
    """Simulated annealing of many replicas without compiled code, in cycles of doubling length.

    Parameters
    ----------
    replicas
        How many assignments at a time; by default as many as keep NumPy busy.
    """

    replicas: int | None = None

    def __post_init__(self) -> None:
        if self.replicas is not None and self.replicas < 1:
            raise ParameterError(f"annealing in NumPy has at least 1 replica, not {self.replicas}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from random assignments; `initial` changes nothing."""
        return PlainAnnealingSearch(self, problem, seed, budget)


class PlainAnnealingSearch(Search):
    """One cycle after the other; an iteration is as many sweeps of all replicas as a block has time for."""

    def __init__(self, solver: PlainAnnealing, problem: Problem, seed: int, budget: Budget):
        self._problem, self._guard = problem, budget.guard
        self._replicas = Replicas(problem, generator(seed))
        affordable = GATHERED // max(self._replicas.gathered, 1)
        self._count = solver.replicas or int(np.clip(affordable, 1, REPLICAS))
        self._best_cost = np.inf
        self._hot = self._cold = 0.0
        self._cycle = self._total = 0
        self._seconds = 0.0
        self._length, self._swept = QUENCH, 0
        self._values = self._replicas.random_assignments(self._count)

    def step(self) -> Step:
        """Sweeps for about a block, or to the end of a cycle."""
        started = time.perf_counter()
        done = False
        while not done and time.perf_counter() - started < BLOCK_SECONDS:
            self._replicas.sweep(self._values, self._temperature())
            self._total += 1
            self._swept += 1
            done = self._swept == self._length
        costs = np.asarray(self._problem.cost(self._values.T))
        at = int(costs.argmin())
        step = Step(costs[at : at + 1].astype(np.float64))
        if costs[at] < self._best_cost:
            self._best_cost = float(costs[at])
            step.best, step.best_cost = self._values[:, at].copy(), self._best_cost
        self._seconds += time.perf_counter() - started
        if done:
            self._next_cycle(feasible=bool(np.isfinite(costs[at])))
        return step

    def _temperature(self) -> float:
        """Geometric from hot to cold, 0 in the last few sweeps of a cycle."""
        cooling = self._length - QUENCH
        if self._swept >= cooling:
            return 0.0
        return float(self._hot * (self._cold / self._hot) ** (self._swept / cooling))

    def _calibrate(self) -> None:
        """Find the range of temperatures from the differences of cost around the first local minimum."""
        differences = Differences(*self._replicas.rises(self._values, SAMPLE))
        if not (differences.rise > 0).any():
            differences = Differences(np.zeros(0, dtype=np.int64), np.zeros(0))  # all costs are equal
        self._hot = uphill_temperature(differences, HOT)
        self._cold = max(min(uphill_temperature(differences, COLD), self._hot / 2), self._hot * COOLED)

    def _next_cycle(self, *, feasible: bool) -> None:
        """Begin the next, from random assignments."""
        if self._cycle == 0:
            self._calibrate()
        if not feasible:
            self._replicas.penalise(HARDER)
        length = FIRST_CYCLE * 2.0 ** min(self._cycle, 40)
        left = self._guard.seconds_left * self._total / max(self._seconds, 1e-9)
        self._length = int(max(left if left < STRETCH * length else length, QUENCH + 1))
        self._cycle += 1
        self._swept = 0
        self._values = self._replicas.random_assignments(self._count)
