"""What ends a solve: time, iterations, a target cost, stagnation and memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.problem import Assignment
from dabp.problem.guard import resident_memory


@dataclass
class Progress:
    """The state of a solve as rules and callbacks see it, in the problem's own units and direction."""

    time: float = 0.0
    iterations: int = 0
    cost: float | None = None
    assignment: Assignment | None = None
    bound: float | None = None
    last_improvement: int = 0
    """The number of iterations when the incumbent last improved."""
    improved: bool = False
    """Whether the last block improved the incumbent."""
    block: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The last block's iteration costs."""
    records: list[dict[str, Any]] = field(default_factory=list)
    """What the solver recorded in the last block."""


@dataclass(frozen=True)
class Limits:
    """Everything that may end a solve from outside; None = no limit."""

    time: float | None = None
    iterations: int | None = None
    target: float | None = None
    stagnation: int | None = None
    memory: int | None = None
    maximize: bool = False

    def __post_init__(self) -> None:
        for name in ("time", "iterations", "stagnation", "memory"):
            value = getattr(self, name)
            if value is not None and (not np.isfinite(value) or value < 0):
                raise ParameterError(f"the {name} limit is a number of at least 0, not {value}")

    def reached(self, progress: Progress) -> str | None:
        """The reason to stop, in words, or None."""
        if self.time is not None and progress.time >= self.time:
            return "time limit"
        if self.iterations is not None and progress.iterations >= self.iterations:
            return "iteration limit"
        if self.target is not None and progress.cost is not None:
            hit = progress.cost >= self.target if self.maximize else progress.cost <= self.target
            if hit:
                return "target cost"
        if self.stagnation is not None and progress.iterations - progress.last_improvement >= self.stagnation:
            return "no improvement"
        if self.memory is not None and resident_memory() > self.memory:
            return "memory limit"
        return None
