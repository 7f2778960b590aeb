"""Kernels that are not there yet are compiled in a child process before a search starts, within the limits."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dabp.problem import Assignment, Problem
from dabp.problem.guard import Guard
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver


@dataclass(frozen=True)
class Wait:
    """What became of it."""

    ready: bool = True
    """Whether the search can start, because its kernels are there, or compile where it runs, as nothing else helps."""
    stand_in: Assignment | None = None
    """The best assignment that was found in NumPy meanwhile, for the case that nothing else is."""
    seconds: float = 0.0

    def note(self, name: str) -> str | None:
        """A line for the result, if anybody waited."""
        if self.seconds == 0.0:
            return None
        advice = "the next solve is faster, `dabp doctor --compile` makes all"
        if self.ready:
            return f"{self.seconds:.0f} s of it went into compiling the kernels of {name!r}: {advice}"
        whose = "the first guess" if self.stand_in is None else "of a search in NumPy"
        return f"the kernels of {name!r} were still being compiled at the end, and the answer is {whose}: {advice}"


def wait_for_kernels(
    solver: Solver, problem: Problem, seed: int, guard: Guard, stopped: Callable[[], bool] = lambda: False
) -> Wait:
    """Have what `solver` needs compiled in a child process, until it is there or the guard ends it.

    Meanwhile, if time is limited, a search in NumPy looks for an answer. `stopped` is asked after each block.
    """
    if not solver.kernels:
        return Wait()
    from dabp.solvers.compiler import Compiler  # Numba, loaded only when wanted
    from dabp.solvers.warming import missing, needed

    if not (lacking := missing(needed(solver.kernels, problem))):
        return Wait()
    started = time.perf_counter()
    compiler = Compiler(lacking)
    stand_in, best, best_cost = _stand_in(problem, seed, guard), None, np.inf
    try:
        while True:
            whole = not compiler.waiting() or not compiler.running
            ended = guard.over or stopped()
            if whole or ended:
                return Wait(whole and not ended, best, time.perf_counter() - started)
            if stand_in is None:
                time.sleep(BLOCK_SECONDS)
                continue
            step = stand_in.step()
            if step.best is not None and step.best_cost < best_cost:
                best, best_cost = step.best, step.best_cost
    finally:
        compiler.close()


def _stand_in(problem: Problem, seed: int, guard: Guard) -> Search | None:
    """Somebody who needs no kernels, where the time is limited."""
    if math.isinf(guard.seconds_left):
        return None
    from dabp.solvers.portfolio.plain_search import PlainSearch

    return PlainSearch(problem, seed, Budget(guard=guard))
