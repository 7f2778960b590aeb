"""What ends a solve: time, iterations, a target cost, stagnation and memory."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.driver.arguments import as_cost, as_count, as_number
from dabp.errors import SolverError
from dabp.problem import Assignment
from dabp.problem.guard import Guard
from dabp.solvers.base import Solver, Step
from dabp.solvers.clock import Clock

DEFAULT_SECONDS = 30.0
"""How long a solve may take when nothing that was asked for is sure to end it."""
IDLE_STEPS = 1000
"""So many steps in a row that give nothing end a solve, if they take no time either."""
IDLE_SECONDS = 1e-3
"""What a step that gives nothing takes at least, on average: one that waits for something takes far longer."""


@dataclass
class Progress:
    """The state of a solve as rules and callbacks see it, in the problem's own units and direction."""

    time: float = 0.0
    """Seconds since the solve was called."""
    iterations: int = 0
    """How many there were so far."""
    cost: float | None = None
    """Of the best assignment so far, None if there is none yet."""
    assignment: Assignment | None = None
    """That assignment, as value indices."""
    bound: float | None = None
    """What is proved that no assignment is better than."""
    last_improvement: int = 0
    """The number of iterations when the incumbent last improved."""
    improved: bool = False
    """Whether the last block improved the incumbent."""
    block: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))
    """The last block's iteration costs."""
    records: list[dict[str, Any]] = field(default_factory=list)
    """What the solver recorded in the last block."""
    time_left: float = math.inf
    """Seconds until the time limit."""


@dataclass(frozen=True)
class Limits:
    """Everything that may end a solve from outside; None = no limit."""

    time: float | None = None
    """Seconds of wall clock; inf: no limit, and the user says so."""
    iterations: int | None = None
    target: float | None = None
    stagnation: int | None = None
    memory: int | None = None
    maximize: bool = False
    note: str = ""
    """Why there is a time limit that nobody gave."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "time", as_number("time", self.time))
        object.__setattr__(self, "target", as_cost("target", self.target))
        for name in ("iterations", "stagnation", "memory"):
            object.__setattr__(self, name, as_count(f"the {name} limit", getattr(self, name)))

    @property
    def seconds(self) -> float | None:
        """The time limit, None if there is none."""
        return None if self.time == math.inf else self.time

    def for_solver(self, solver: Solver, name: str) -> Limits:
        """With `DEFAULT_SECONDS` if nobody gave a time limit, and what else was given is not sure to end `solver`."""
        counted = self.iterations is not None or self.stagnation is not None
        if self.time is not None or (counted and solver.iterations_end):
            return self
        why = (
            f"an iteration of {name} is an improvement, of which there may be no more" if counted else "no limit given"
        )
        note = f"{why}, stopping after {DEFAULT_SECONDS:g} s"
        return dataclasses.replace(self, time=DEFAULT_SECONDS, note=note)

    def guard(self, interrupted: Callable[[], bool], clock: Clock) -> Guard:
        """What every stage of a solve that began with `clock` asks whether to stop."""
        left = None if self.seconds is None else max(0.0, self.seconds - clock.now)
        return Guard(left, self.memory, interrupted)

    def reached(self, progress: Progress) -> str | None:
        """The reason to stop by what the search has done, in words, or None; time and memory are the guard's."""
        if self.iterations is not None and progress.iterations >= self.iterations:
            return "iteration limit"
        if self.target is not None and progress.cost is not None:
            hit = progress.cost >= self.target if self.maximize else progress.cost <= self.target
            if hit:
                return "target cost"
        if self.stagnation is not None and progress.iterations - progress.last_improvement >= self.stagnation:
            return "no improvement"
        return None


class Idleness:
    """Notices a search that gives nothing and waits for nothing: it would go on so for ever."""

    def __init__(self, solver: str):
        self._solver = solver
        self._steps, self._since = 0, 0.0

    def look(self, step: Step, now: float) -> None:
        """Raise `SolverError` if this step is one too many of those that brought nothing."""
        if len(step.costs) or step.best is not None or step.bound is not None or step.records or step.finished:
            self._steps = 0
            return
        if self._steps == 0:
            self._since = now
        self._steps += 1
        if self._steps > IDLE_STEPS and now - self._since < IDLE_SECONDS * self._steps:
            raise SolverError(
                f"solver {self._solver!r} gave nothing in {self._steps} steps and waits for nothing: it would not end"
            )
