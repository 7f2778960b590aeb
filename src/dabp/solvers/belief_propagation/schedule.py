"""How the inverse temperature and the reinforcement change during a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

LEVELS = 25
"""Values that β takes in a run at most."""
LEVEL_ITERATIONS = 48
"""Iterations for each value of β at least, as the weights of tables take longer to make than an iteration."""


class Phases(NamedTuple):
    """β and the gain in each of several iterations."""

    beta: Reals
    """Inverse temperature, in scaled units of cost; infinite = min-sum."""
    gain: Reals
    """Of reinforcement; negative = none."""


@dataclass(frozen=True)
class Ramp:
    """``start + (end − start) p^shape`` after the share p of a run, or likewise in logarithms."""

    start: float
    end: float
    shape: float = 1.0
    geometric: bool = False

    def at(self, progress: Reals | float) -> Reals:
        """The values after these shares of a run."""
        way = progress**self.shape
        if self.geometric:
            return np.asarray(self.start * (self.end / self.start) ** way)
        return np.asarray(self.start + (self.end - self.start) * way)


@dataclass(frozen=True)
class Freezing:
    """Reinforced BP's gain ``1 − (1 − rate)^t`` after t iterations, which has no end; −1 at rate 0."""

    rate: float

    def after(self, iterations: NDArray[np.int64]) -> Reals:
        """The gains after these iterations."""
        if self.rate == 0:
            return np.full(np.shape(iterations), -1.0)
        return np.asarray(1 - (1 - self.rate) ** iterations, dtype=np.float64)


@dataclass(frozen=True)
class Schedule:
    """One run of belief propagation; `iterations` does not matter where β is constant and the gain is `Freezing`."""

    iterations: int
    beta: Ramp
    """The inverse temperature, in scaled units of cost."""
    gain: Ramp | Freezing
    """The share of the belief in the field of reinforcement, ``H_i = g (b_i − min b_i)``."""
    damping: float
    perturbation: float = 0.0
    """Largest of the unary costs that are drawn on top, in scaled units."""
    cold: float = np.inf
    """β above which messages are those of min-sum."""
    since: tuple[int, float] = (0, 0.0)
    """Iterations, and the share of the run that was done after them, when its length was last changed."""

    def progress(self, done: Any) -> Any:
        """The share of the run that is done after this number of iterations, one number or an array."""
        first, before = self.since
        return np.minimum(1.0, before + (1.0 - before) * (done - first) / (self.iterations - first))

    def lasting(self, iterations: int, done: int) -> Schedule:
        """The same run with another length, `done` iterations of which are over: the rest is stretched or pressed."""
        return replace(self, iterations=iterations, since=(done, float(self.progress(done))))

    @property
    def levels(self) -> int:
        """How many values β takes."""
        return max(1, min(LEVELS, self.iterations // LEVEL_ITERATIONS))

    @property
    def soft_iterations(self) -> int:
        """Iterations before β passes `cold`; approximate if the length was changed more than once."""
        levels = self.levels
        hot = self.beta.at((np.arange(levels) + 0.5) / levels) <= self.cold
        if hot.all():
            return self.iterations
        first, before = self.since
        passed = np.interp(hot.argmin() / levels, [0.0, before, 1.0], [0, first, self.iterations])
        return math.ceil(passed - 1e-6)

    def phases(self, first: int, count: int) -> Phases:
        """β and the gain in `count` iterations, after `first` of the run."""
        done, levels = first + np.arange(1, count + 1), self.levels
        level = np.minimum(np.floor(self.progress(done - 1) * levels + 1e-9) + 0.5, levels - 0.5) / levels
        beta = self.beta.at(level)
        return Phases(np.where(beta > self.cold, np.inf, beta), self.gain_after(done))

    def gain_after(self, done: Any) -> Reals:
        """The gain of reinforcement after this number of iterations, one number or an array."""
        return self.gain.after(done) if isinstance(self.gain, Freezing) else self.gain.at(self.progress(done))
