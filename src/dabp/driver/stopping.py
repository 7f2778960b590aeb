"""Limits that end a solve: time, iterations, a target cost, stagnation and memory."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from dabp.driver.arguments import as_bytes, as_cost, as_count, as_number, shortened
from dabp.driver.interruption import Interruption
from dabp.errors import ParameterError, SolverError, named_fields
from dabp.problem import Assignment
from dabp.problem.guard import INTERRUPTED, Guard
from dabp.solvers.base import Solver, Step
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status

DEFAULT_SECONDS = 30.0
"""The time limit of a solve that no given limit is sure to end."""
IDLE_STEPS = 1000
"""Number of steps in a row that may give nothing and take less than a millisecond each."""
LIMIT_OPTIONS = {
    "time": "time_limit",
    "iterations": "max_iterations",
    "target": "target",
    "stagnation": "stagnation",
    "memory": "memory_limit",
}
"""Field of `Limits` → keyword of `solve`."""


@dataclass
class Progress:
    """The progress of a solve, for stopping rules and callbacks, in the problem's own units and direction."""

    time: float = 0.0
    """Seconds since the solve was called."""
    iterations: int = 0
    """Iterations done."""
    cost: float | None = None
    """Cost of the best assignment so far, None if there is none yet."""
    assignment: Assignment | None = None
    """That assignment, as value indices."""
    bound: float | None = None
    """Proved bound: no assignment is better."""
    last_improvement: int = 0
    """Iterations done when the incumbent last improved."""
    improved: bool = False
    """Whether the last block improved the incumbent."""
    block: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """Costs of the last block's iterations."""
    records: list[dict[str, Any]] = field(default_factory=list)
    """What the solver recorded in the last block."""
    time_left: float = math.inf
    """Seconds until the time limit."""


class Ended(NamedTuple):
    """Why a solve ended: its status, and the word of the limit that was reached if the status is LIMIT."""

    status: Status
    limit: str | None = None

    @classmethod
    def by(cls, reason: str | None) -> Ended:
        """The end of a solve that a limit or an interruption stopped."""
        return cls(Status.INTERRUPTED) if reason == INTERRUPTED else cls(Status.LIMIT, reason)


@named_fields
@dataclass(frozen=True)
class Limits:
    """Limits of a solve; None is no limit."""

    time: float | None = None
    """Seconds of wall clock; `math.inf` also turns the default limit off."""
    iterations: int | None = None
    """Iterations of the solver."""
    target: float | None = None
    """A cost: an answer that is as good as this ends the solve."""
    stagnation: int | None = None
    """Iterations since the last improvement."""
    memory: int | str | None = None
    """Memory of the process: bytes, or text with a unit such as ``"2GB"``."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", as_number("time", self.time))
        object.__setattr__(self, "target", as_cost("target", self.target))
        object.__setattr__(self, "memory", as_bytes("memory", self.memory))
        for name in ("iterations", "stagnation"):
            object.__setattr__(self, name, as_count(f"the {name} limit", getattr(self, name)))

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Limits:
        """The limits among the options of `solve`, given one by one or as an object."""
        given = options.get("limits")
        named = {name: options.get(option) for name, option in LIMIT_OPTIONS.items()}
        if given is None:
            return cls(**named)
        if not isinstance(given, Limits):
            raise ParameterError(f"limits is a dabp.Limits, not {shortened(given)}")
        for name, value in named.items():
            if value is not None:
                raise ParameterError(f"{LIMIT_OPTIONS[name]} and limits are both given; use Limits({name}=...)")
        return given

    @property
    def seconds(self) -> float | None:
        """The time limit, None if there is none."""
        return None if self.time == math.inf else self.time

    @property
    def bytes(self) -> int | None:
        """The memory limit, None if there is none."""
        return cast(int | None, self.memory)

    def for_solver(self, solver: Solver, name: str) -> tuple[Limits, str]:
        """These limits, with a time limit if nothing else is sure to end `solver`, and why one was added, or ""."""
        counted = self.iterations is not None or self.stagnation is not None
        if self.time is not None or (counted and solver.iterations_end):
            return self, ""
        why = (
            f"an iteration of {name} is an improvement, of which there may be no more" if counted else "no limit given"
        )
        return dataclasses.replace(self, time=DEFAULT_SECONDS), f"{why}, stopping after {DEFAULT_SECONDS:g} s"

    def guard(self, interruption: Interruption, clock: Clock) -> Guard:
        """The guard that every stage of a solve asks; the time limit counts from the start of `clock`."""
        left = None if self.seconds is None else max(0.0, self.seconds - clock.now)
        return Guard(left, self.bytes, lambda: interruption.requested)

    def reached(self, progress: Progress, *, maximize: bool = False) -> str | None:
        """The word of the limit that the search has reached, or None; the guard watches time and memory."""
        if self.iterations is not None and progress.iterations >= self.iterations:
            return "iteration limit"
        if self.target is not None and progress.cost is not None:
            hit = progress.cost >= self.target if maximize else progress.cost <= self.target
            if hit:
                return "target cost"
        if self.stagnation is not None and progress.iterations - progress.last_improvement >= self.stagnation:
            return "no improvement"
        return None


class Idleness:
    """Detects a search whose steps give nothing and take no time, which would never end."""

    def __init__(self, solver: str):
        self._solver = solver
        self._steps, self._since = 0, 0.0

    def look(self, step: Step, now: float) -> None:
        """Raise `SolverError` after `IDLE_STEPS` short steps that gave nothing."""
        if len(step.costs) or step.best is not None or step.bound is not None or step.records or step.finished:
            self._steps = 0
            return
        if self._steps == 0:
            self._since = now
        self._steps += 1
        if self._steps > IDLE_STEPS and now - self._since < 1e-3 * self._steps:
            raise SolverError(f"solver {self._solver!r} gave nothing in {self._steps} short steps: it would not end")
