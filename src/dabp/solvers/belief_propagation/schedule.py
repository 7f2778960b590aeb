"""How damping, temperature and reinforcement change in the course of one run: a few numbers each."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]

STRETCH, LEVELS = 48, 25
"""β stays the same for about so many iterations at least, and takes so many values in a run at most: making weights of
tables takes longer than an iteration."""


class Phases(NamedTuple):
    """What holds in each of some iterations."""

    beta: Reals
    """Inverse temperature, in scaled units of cost; infinite = min-sum."""
    gain: Reals
    """Of reinforcement; negative = none."""
    damping: Reals | None = None
    """Of all edges; none = whatever each edge has."""


@dataclass(frozen=True)
class Ramp:
    """From `start` to `end`: ``start + (end − start) p^shape`` after the part p of a run, or likewise in logarithms."""

    start: float
    end: float
    shape: float = 1.0
    geometric: bool = False

    def at(self, progress: Reals | float) -> Reals:
        """The values after these parts of a run."""
        way = progress**self.shape
        if self.geometric:
            return np.asarray(self.start * (self.end / self.start) ** way)
        return np.asarray(self.start + (self.end - self.start) * way)


@dataclass(frozen=True)
class Freezing:
    """Reinforced BP's ``1 − (1 − rate)^t`` after t iterations, which comes near 1 and has no end; −1 at rate 0."""

    rate: float

    def after(self, iterations: NDArray[np.int64]) -> Reals:
        """The values after these iterations."""
        if self.rate == 0:
            return np.full(np.shape(iterations), -1.0)
        return np.asarray(1 - (1 - self.rate) ** iterations, dtype=np.float64)


@dataclass(frozen=True)
class Schedule:
    """One run of belief propagation: of so many iterations, or (1 as good as any number) without ramps and an end."""

    iterations: int
    beta: Ramp
    """The inverse temperature, in scaled units of cost."""
    gain: Ramp | Freezing
    """What the field of reinforcement takes of the belief, ``H_i = g (b_i − min b_i)``."""
    damping: Ramp
    perturbation: float = 0.0
    """Largest of the unary costs that are drawn on top, in scaled units."""
    cold: float = np.inf
    """β from which on messages are those of min-sum."""
    since: tuple[int, float] = (0, 0.0)
    """Iterations, and the part of the run that was done after them, when its length was last changed."""

    def progress(self, done: int) -> float:
        """Which part of the run is done after so many iterations."""
        return min(1.0, float(self._on_the_way(done)))

    def _on_the_way(self, done: Any) -> Any:
        """The same as if it had no end, of one number or of many."""
        first, before = self.since
        return before + (1.0 - before) * (done - first) / (self.iterations - first)

    def lasting(self, iterations: int, done: int) -> Schedule:
        """The same run so many iterations long, of which some are done: what is left is stretched or pressed."""
        return replace(self, iterations=iterations, since=(done, self.progress(done)))

    @property
    def levels(self) -> int:
        """How many values β takes."""
        return max(1, min(LEVELS, self.iterations // STRETCH))

    @property
    def soft_iterations(self) -> int:
        """Iterations before β passes `cold`, after which a run is min-sum; where its length was changed twice, about.

        Only of the last change is it known how far the run was then.
        """
        levels = self.levels
        hot = self.beta.at((np.arange(levels) + 0.5) / levels) <= self.cold
        if hot.all():
            return self.iterations
        first, before = self.since
        passed = np.interp(hot.argmin() / levels, [0.0, before, 1.0], [0, first, self.iterations])
        return math.ceil(passed - 1e-6)

    def phases(self, first: int, count: int) -> Phases:
        """What holds in `count` iterations, after `first` of the run."""
        done = first + np.arange(1, count + 1)
        levels = self.levels
        before, progress = (np.minimum(1.0, self._on_the_way(after)) for after in (done - 1, done))
        level = np.minimum(np.floor(before * levels + 1e-9) + 0.5, levels - 0.5) / levels
        gain = self.gain.after(done) if isinstance(self.gain, Freezing) else self.gain.at(progress)
        beta = self.beta.at(level)
        return Phases(np.where(beta > self.cold, np.inf, beta), gain, self.damping.at(progress))

    def gain_after(self, done: int) -> float:
        """The reinforcement after so many iterations."""
        if isinstance(self.gain, Freezing):
            return 1 - (1 - self.gain.rate) ** done if self.gain.rate > 0 else -1.0
        return float(self.gain.at(self.progress(done)))
