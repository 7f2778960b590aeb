"""How long the next run of `bp-learned` may be, by its limits and by what iterations have taken so far."""

from __future__ import annotations

from dabp.compiling import working_seconds
from dabp.graph import FactorGraph
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.reinforcement import affordable_iterations
from dabp.solvers.belief_propagation.schedule import Schedule

SHORTEST = 30
"""Iterations of a run at least."""

FIRST_PART = 0.06
"""Part of all iterations that the first run takes at most: an early answer, and a measure of the iteration's time."""

TOO_LONG = 2.0
"""How many times longer than `FIRST_PART` the first run may become before the clock shortens what is left of it."""

LAST_PART = 1.7
"""A run takes all iterations that are left if these are less than this many times its length."""

IN_TIME = 0.97
"""Part of the time left that the last run is planned for."""

OFF_TIME = 0.02
"""Part of its length by which the last run may end early or late before its rest is stretched or shortened."""


class Pace:
    """Counts iterations of all kinds against limits, and soft ones against the clock, which `started` at a time."""

    def __init__(self, budget: Budget, graph: FactorGraph, started: float):
        self._budget = budget
        self._nominal = affordable_iterations(graph, Budget(time_limit=budget.time_limit))
        self._started = started
        self._soft, self._seconds, self._blocks = 0, 0.0, 0
        self._first = self.last = False
        """Whether the run that was fitted last is the first, and whether it takes all that is left."""

    def took(self, iterations: int, seconds: float) -> None:
        """A block of soft messages. The first counts only until there is a second: kernels may be loaded in it."""
        self._blocks += 1
        if self._blocks == 2:
            self._soft, self._seconds = 0, 0.0
        self._soft += iterations
        self._seconds += seconds

    def left(self, done: int, more: float = 0.0, owed: int = 0) -> float | None:
        """About how many soft iterations are left after `done` of any kind: at first by a nominal speed.

        Each takes `more` seconds when the run is over, and so do those of this run that were done: `owed` of them.
        """
        budget, lefts = self._budget, []
        if budget.max_iterations is not None:
            lefts.append(float(budget.max_iterations - done))
        if budget.time_limit is not None:
            if self._soft == 0:
                lefts.append(float(self._nominal or 1))
            else:
                seconds = budget.time_limit - (working_seconds() - self._started)
                each = max(self._seconds, 1e-6) / self._soft
                lefts.append(max(0.0, IN_TIME * seconds - more * owed) / (each + more))
        return min(lefts) if lefts else None

    def fitting(self, wanted: float, left: float | None, *, first: bool) -> int:
        """A length of about `wanted` iterations, within what is left."""
        self._first, self.last = first, False
        if left is None:
            return int(wanted)
        if first:
            return int(max(SHORTEST, min(wanted, FIRST_PART * left)))
        self.last = left < LAST_PART * wanted
        return int(max(SHORTEST, left if self.last else wanted))

    def kept(self, schedule: Schedule, run: int, done: int, left: float | None) -> Schedule:
        """The schedule of a run that ends in time if it is the first or the last.

        `run` iterations of it are done, `done` in all, and about `left` remain.
        """
        if not (self._first or self.last) or self._budget.time_limit is None or left is None:
            return schedule
        if self._first:
            if self._blocks < 2:
                return schedule
            length = int(max(SHORTEST, run + 1, FIRST_PART * (done + left)))
            return schedule.lasting(length, run) if schedule.iterations > TOO_LONG * length else schedule
        length = run + max(1, int(left))
        off = abs(length - schedule.iterations) > OFF_TIME * schedule.iterations
        return schedule.lasting(length, run) if off else schedule
