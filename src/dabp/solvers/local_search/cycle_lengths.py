"""How long the next cycle of annealing is: learned from what cycles of several lengths have found."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dabp.solvers.base import State

FACTOR = 3.0
"""How many times longer the cycles of a scale are than those of the one before."""

SCALES = 24
"""The number of scales; the longest cycles would take years."""

STRETCH = 2.0
"""A cycle takes all that is left if that is less than this multiple of its length."""


class CycleLengths:
    """Scales of length, and the costs that cycles of each have ended with.

    A longer cycle ends lower on average, the best of more and shorter ones may be lower. Of m independent draws with
    mean μ and deviation σ the least is about μ − σ √(2 ln m): the scale is chosen for which that is least, where m is
    the number of cycles of its length that there is time for, and μ is taken for higher the less is known about it.
    Scales are tried from the shortest on, while the longest so far is clearly the best. On large problems, where cycles
    of one length differ little, this leads to one slow cooling; on small ones, all of whose cycles find the same, to
    short ones.

    Parameters
    ----------
    shortest
        Sweeps of a cycle of the first scale.
    """

    def __init__(self, shortest: int):
        self.shortest = shortest
        self.scale = 0
        """The scale of the present cycle."""
        self.tried = np.zeros(SCALES, dtype=np.int64)
        """Cycles of each scale."""
        self.known = np.zeros(SCALES, dtype=np.int64)
        """Those of them that found anything feasible."""
        self.mean = np.zeros(SCALES)
        """The mean of their costs."""
        self.squares = np.zeros(SCALES)
        """The sum of the squared distances from it."""

    def choose(self, left: float, rng: np.random.Generator) -> float:
        """Sweeps of the next cycle, at most `left`."""
        self.scale = self._next_scale(left, rng)
        length = self.shortest * FACTOR**self.scale
        return left if left < STRETCH * length else length

    def record(self, cost: float) -> None:
        """Learn the cost that the present cycle has found, infinite for nothing feasible."""
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
        longer = top + 1 < SCALES and STRETCH * self.shortest * FACTOR ** (top + 1) <= left
        if longer and promise[top] + doubt[top] <= promise[:top].min(initial=np.inf):
            return top + 1
        if rng.random() < 0.15:  # little may be known about the neighbours of the best
            return int(np.clip(best + rng.choice((-1, 1)), 0, top))
        return best

    def _promise(self, left: float, spread: float) -> Any:
        """The cost that the rest of the time would lead to with each scale; infinite where nothing is known."""
        lengths = self.shortest * FACTOR ** np.arange(SCALES)
        horizon = min(left, 20.0 * float((self.tried * lengths).sum()))  # without a limit there is no end
        draws = np.maximum(1.0, horizon / lengths)
        return np.where(self.known > 0, self.mean - spread * np.sqrt(2.0 * np.log(draws)), np.inf)

    def state_dict(self) -> State:
        """What is known, for a checkpoint."""
        return {"scale": self.scale, **{name: np.copy(getattr(self, name)) for name in self._learned}}

    def load_state_dict(self, state: State) -> None:
        """Take it up again; raises `ValueError` for what cannot be."""
        self.scale = state["scale"]
        for name in self._learned:
            getattr(self, name)[:] = state[name]
        if not 0 <= self.scale < SCALES or (self.known < 0).any():
            raise ValueError("its cycle cannot be")
        if (self.tried < self.known).any() or (self.squares < 0).any():
            raise ValueError("its cycles cannot have found that")

    _learned = ("tried", "known", "mean", "squares")
