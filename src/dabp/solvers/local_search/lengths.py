"""How long the next cycle of annealing is: learned from what cycles of several lengths have found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

FACTOR = 3.0
"""How many times longer the cycles of a scale are than those of the one before."""

SCALES = 24
"""So many at most: the longest cycles would then take longer than anybody waits."""

STRETCH = 2.0
"""A cycle takes all that is left if that is less than this many times its length."""

FORESIGHT = 20.0
"""No more sweeps are planned with than so many times those that were made: with no limit in sight there is no end."""

WANDER = 0.15
"""How often a neighbour of the best scale has a cycle, since little may be known about it."""


class CycleLengths:
    """Scales of length, and the costs that cycles of each have ended with.

    A longer cycle ends lower on average, more shorter ones have more luck. Of m independent draws with mean μ and
    deviation σ the least is about μ − σ √(2 ln m); so the scale is taken for which that is least, m being the cycles
    of its length that there is time for, and μ taken for higher the less is known about it. Scales are tried from the
    shortest on, for as long as the longest so far is the best without doubt. On problems so large that cycles of one
    length differ little, this leads to one slow cooling; on small ones, all of whose cycles find the same, to short
    ones.

    Parameters
    ----------
    shortest
        Sweeps of a cycle of the first scale.
    """

    def __init__(self, shortest: int):
        self.shortest = shortest
        self.scale = 0
        """Of the cycle under way."""
        self.tried = np.zeros(SCALES, dtype=np.int64)
        """Cycles of each scale …"""
        self.known = np.zeros(SCALES, dtype=np.int64)
        """… those of them that found anything feasible …"""
        self.mean = np.zeros(SCALES)
        self.squares = np.zeros(SCALES)
        """… and of their costs the mean and the squared distances from it."""

    def length(self, scale: int) -> float:
        """Sweeps of a cycle of a scale."""
        return self.shortest * FACTOR**scale

    def choose(self, left: float, rng: np.random.Generator) -> float:
        """Sweeps of the next cycle, of `left` that there are."""
        self.scale = self._next_scale(left, rng)
        length = self.length(self.scale)
        return left if left < STRETCH * length else length

    def record(self, cost: float) -> None:
        """Learn what the cycle under way has found, infinite for nothing feasible."""
        k = self.scale
        self.tried[k] += 1
        if cost < math.inf:
            self.known[k] += 1
            away = cost - self.mean[k]
            self.mean[k] += away / self.known[k]
            self.squares[k] += away * (cost - self.mean[k])

    def _next_scale(self, left: float, rng: np.random.Generator) -> int:
        if self.tried[0] < 2:
            return 0
        top = int(np.flatnonzero(self.tried)[-1])
        spread = math.sqrt(self.squares.sum() / max(1, (self.known - 1)[self.known > 0].sum()))
        doubt = spread / np.sqrt(np.maximum(self.known[: top + 1], 1))  # one lucky cycle says little about its length
        promise = self._promise(left, spread)[: top + 1] + doubt
        best = int(promise.argmin()) if np.isfinite(promise).any() else int(rng.integers(top + 1))
        longer = top + 1 < SCALES and STRETCH * self.length(top + 1) <= left
        if longer and promise[top] + doubt[top] <= promise[:top].min(initial=np.inf):
            return top + 1
        if rng.random() < WANDER:
            return int(np.clip(best + rng.choice((-1, 1)), 0, top))
        return best

    def _promise(self, left: float, spread: float) -> Any:
        """The cost that the rest of the time would lead to with each scale; infinite where nothing is known."""
        lengths = self.shortest * FACTOR ** np.arange(SCALES)
        horizon = min(left, FORESIGHT * float((self.tried * lengths).sum()))
        draws = np.maximum(1.0, horizon / lengths)
        return np.where(self.known > 0, self.mean - spread * np.sqrt(2.0 * np.log(draws)), np.inf)
