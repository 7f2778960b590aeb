"""Parallel tempering: replicas at several temperatures that change places."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.local_search.annealing import QUENCH, Annealing, AnnealingSearch

FEWEST = 4
"""Replicas at least."""

MOST = 40
"""Replicas at most."""

VISIT = 10
"""Sweeps of a replica between two chances to change places."""


@dataclass(frozen=True, kw_only=True)
class Tempering(Solver):
    """Replicas of a problem, each swept at a temperature of its own, that change places with their neighbours.

    Two replicas at temperatures S < T with costs E and F change places with probability
    min(1, exp((1/S − 1/T)(E − F))) (Swendsen & Wang 1986): an assignment that is stuck at a low temperature moves to
    higher ones, and better ones move down. A cooling decides once, where costs fall fastest, which valley it ends in;
    here that is decided again and again. A quick first cooling shows how costs depend on the temperature. The hottest
    replica is about where they fall fastest, the coldest a little below where the slow part of annealing ends, and
    between them neighbours change places about as often everywhere.

    For problems that forbid nothing: what is forbidden is penalised, but no more than it is in the beginning.
    """

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with a descent from `initial` or a random assignment."""
        return TemperingSearch(problem, seed, budget, initial)


class TemperingSearch(AnnealingSearch):
    """Visits of ten sweeps to one replica after the other; when all have had theirs, neighbours may change places."""

    def __init__(self, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        self._replicas: list[Any] = []
        super().__init__(Annealing(), problem, seed, budget, initial)
        self._ladder = np.zeros(0)
        self._place = self._visited = self._rounds = 0

    @property
    def ladder(self) -> NDArray[np.float64]:
        """The temperatures in units, the coldest first; empty before they are found."""
        return self._ladder

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Descend and find the temperatures at first, then visit replicas."""
        if not self._replicas:
            count = min(len(lowest), QUENCH - self._visited)
            self.sweep(self.state, np.zeros(count), lowest[:count])
            self._visited += count
            if self._visited == QUENCH:
                self._visited = 0
                self._prepare()
            return count
        done = 0
        while done < len(lowest):
            count = min(VISIT - self._visited, len(lowest) - done)
            temperatures = np.full(count, self._ladder[self._place])
            if self._place == 0:
                temperatures[max(0, VISIT - 2 - self._visited) :] = 0.0  # to the minimum that it is near
            self.sweep(self._replicas[self._place], temperatures, lowest[done : done + count])
            done += count
            self._visited += count
            if self._visited == VISIT:
                self._visited, self._place = 0, self._place + 1
            if self._place == len(self._replicas):
                self._place = 0
                self._exchange()
        return done

    def collect(self) -> None:
        """Take the best of all replicas if it is better."""
        own = self.state
        for state in (own, *self._replicas):
            self.state = state
            super().collect()
        self.state = own

    def _prepare(self) -> None:
        """Find the temperatures by a quick cooling, and begin everywhere anew."""
        self.calibrate()
        hot, warm, cold = self._whole
        levels, each = np.geomspace(hot, max(0.8 * warm, cold), 20), 80
        costs, lowest = np.empty(len(levels)), np.empty(1, dtype=np.int64)
        for level, temperature in enumerate(levels):
            seen = np.empty(each)
            for sweep in range(each):
                self.sweep(self.state, np.full(1, temperature), lowest)
                seen[sweep] = self.state.tally["soft"]
            costs[level] = seen[each // 3 :].mean()
        self._ladder = ladder_of(levels, costs)
        for _ in self._ladder:
            self._replicas.append(self.local.state(int(self.rng.integers(2**63))))
            self.local.put(self._replicas[-1], self.local.arranged(self.local.random_assignment(self.rng)))

    def _exchange(self) -> None:
        """Let every other pair of neighbours change places, the other half the next time."""
        costs = [float(state.tally["soft"]) for state in self._replicas]
        for cold in range(self._rounds % 2, len(costs) - 1, 2):
            gain = (1 / self._ladder[cold] - 1 / self._ladder[cold + 1]) * (costs[cold] - costs[cold + 1])
            if gain >= 0 or self.rng.random() < math.exp(gain):
                pair = self._replicas[cold : cold + 2]
                self._replicas[cold : cold + 2] = pair[::-1]
        self._rounds += 1


def ladder_of(levels: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Temperatures for replicas, the coldest first, from mean costs at falling `levels`.

    With the heat capacity C = dE/dT the cost at T deviates by T √C, so that neighbours at a distance of T / √C change
    places about half of the time: the number of such steps is ∫ √C / T dT.
    """
    steps = -np.diff(levels)
    slopes = np.maximum(-np.diff(costs), 0.0) / np.maximum(steps, 1e-300)
    smooth = np.convolve(np.pad(slopes, 1, mode="edge"), np.full(3, 1 / 3), mode="valid")
    middles = np.sqrt(levels[1:] * levels[:-1])
    fastest = np.flatnonzero(smooth >= 0.75 * smooth.max())[-1]  # the coldest place where costs fall nearly as fast
    top = min(max(1.05 * middles[fastest], 2.0 * levels[-1]), levels[0])
    lengths = np.sqrt(smooth) * steps / middles
    rising, length = levels[::-1], np.concatenate([[0.0], np.cumsum(lengths[::-1])])
    length += np.linspace(0.0, 1.0, len(length))  # where nothing changes they are a little apart, too
    end = float(np.interp(top, rising, length))
    # 1.2 deviations of their costs apart, neighbours change places in about four of ten rounds.
    count = int(np.clip(math.ceil(end / 1.2), FEWEST, MOST))
    return np.asarray(np.interp(np.linspace(0.0, end, count), length, rising))
