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

LEVELS, LEVEL_SWEEPS = 20, 80
"""Temperatures of the first cooling, which tells how costs depend on them, and sweeps at each."""

ABOVE, NEARLY = 1.05, 0.75
"""The hottest replica is so many times hotter than the coldest place where costs fall nearly as fast as anywhere."""

BELOW, SPAN = 0.8, 2.0
"""Where the coldest replica is, as a part of the temperature where the slow part of annealing ends; how many times
hotter the hottest is at least."""

APART = 1.2
"""How far neighbours are apart, in deviations of their costs: they change places in four of ten rounds or so."""

FEWEST, MOST = 4, 40
"""Replicas."""

VISIT, DESCENT = 10, 2
"""Sweeps of a replica between two chances to change places; so many of the coldest one's are at temperature 0."""


@dataclass(frozen=True, kw_only=True)
class Tempering(Solver):
    """Replicas of a problem, each swept at a temperature of its own, that change places with their neighbours.

    Two replicas at temperatures S < T with costs E and F change places with probability
    min(1, exp((1/S − 1/T)(E − F))) (Swendsen & Wang 1986): what is stuck in the cold goes up to where it can move, and
    what is found there comes down. A cooling decides once, where costs fall fastest, which valley it ends in; here
    that is decided again and again. A quick first cooling tells how costs depend on the temperature. The hottest
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
        """The temperatures in units, the coldest first; none before they are found."""
        return self._ladder

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Descend and find the temperatures at first, then visit replicas until so many sweeps are made."""
        if not self._replicas:
            count = min(len(lowest), QUENCH - self._visited)
            self._sweep(self.state, np.zeros(count), lowest[:count])
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
                temperatures[max(0, VISIT - DESCENT - self._visited) :] = 0.0  # to the minimum that it is near
            self._sweep(self._replicas[self._place], temperatures, lowest[done : done + count])
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
        self.state = min([own, *self._replicas], key=lambda state: int(state.tally["best"]))
        super().collect()
        self.state = own

    def _sweep(self, state: Any, temperatures: NDArray[np.float64], lowest: NDArray[np.int64]) -> None:
        self.local.sweep(state, self._noise, temperatures, lowest, self._sweepers)

    def _prepare(self) -> None:
        """Find the temperatures, and begin everywhere anew."""
        self._calibrate()
        levels = np.geomspace(self._hot, max(BELOW * self._warm, self._cold), LEVELS)
        costs, lowest = np.empty(LEVELS), np.empty(1, dtype=np.int64)
        for level, temperature in enumerate(levels):
            seen = np.empty(LEVEL_SWEEPS)
            for sweep in range(LEVEL_SWEEPS):
                self._sweep(self.state, np.full(1, temperature), lowest)
                seen[sweep] = self.state.tally["soft"]
            costs[level] = seen[LEVEL_SWEEPS // 3 :].mean()
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
    fastest = np.flatnonzero(smooth >= NEARLY * smooth.max())[-1]
    top = min(max(ABOVE * middles[fastest], SPAN * levels[-1]), levels[0])
    lengths = np.sqrt(smooth) * steps / middles
    rising, length = levels[::-1], np.concatenate([[0.0], np.cumsum(lengths[::-1])])
    length += np.linspace(0.0, 1.0, len(length))  # where nothing changes they are a little apart, too
    end = float(np.interp(top, rising, length))
    count = int(np.clip(math.ceil(end / APART), FEWEST, MOST))
    return np.asarray(np.interp(np.linspace(0.0, end, count), length, rising))
