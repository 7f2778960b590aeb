"""The one driver: prepares the problem, steps a search, keeps the best, asks what ends it.

Every answer passes through here: costs are recomputed from the problem's own tables, bounds are kept
monotone and on their side, and a solver that claims what does not hold is stopped (`verification`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from dabp.driver.checkpoint.schedule import Schedule, schedule
from dabp.driver.interruption import Interruption
from dabp.driver.preparation import Preparation
from dabp.driver.result import Result
from dabp.driver.run import Run
from dabp.driver.stopping import Limits, Progress
from dabp.driver.verification import keep, take
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.problem.views import Label
from dabp.solvers import make_solver
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.clock import Clock
from dabp.solvers.numbers import checked_step
from dabp.solvers.status import Status

Callback = Callable[[Progress], Any]
"""Called after each block; a true answer ends the solve with status INTERRUPTED."""

NOTICEABLE = 0.05
"""The part of the time limit from which on preparations count in what a search plans with."""


def solve(
    problem: Problem,
    solver: str | Solver = "auto",
    *,
    params: Mapping[str, Any] | None = None,
    time_limit: float | None = None,
    max_iterations: int | None = None,
    target: float | None = None,
    stagnation: int | None = None,
    memory_limit: int | None = None,
    seed: int = 0,
    threads: int = 1,
    initial: Mapping[str, Label] | ArrayLike | None = None,
    fix: Mapping[str, Label] | None = None,
    presolve: bool | None = None,
    callbacks: Iterable[Callback] = (),
    checkpoint: str | Path | None = None,
    resume: bool = False,
) -> Result:
    """Find an assignment of least cost (or largest, when the problem maximises).

    SIGINT and SIGTERM end it with the best assignment found.

    Parameters
    ----------
    problem
        What to solve.
    solver, params
        A name (see ``dabp solvers``) with parameters, or a `Solver`.
    time_limit
        Seconds from this call, the first compilation of kernels not counted.
    max_iterations, target, stagnation, memory_limit
        End after so many iterations; at a cost as good as this; after so many iterations without
        improvement; when the process holds more bytes.
    seed, threads
        Same seed and limits by iterations: same result.
    initial
        An assignment to start from, by name and label or as value indices.
    fix
        Variables held at a value, by name and label.
    presolve
        Simplify exactly before solving; by default if the solver asks for it.
    callbacks
        Called after each block with a `Progress`; a true answer ends the solve.
    checkpoint, resume
        A file that the state is saved to every few seconds, and whether to continue from it.
    """
    clock = Clock()
    chosen, name = _chosen(solver, params)
    _check(seed, threads)
    limits = Limits(time_limit, max_iterations, target, stagnation, memory_limit, problem.maximize)
    run = Run(problem, name, seed, clock)
    prepared = Preparation(problem, fix, chosen.presolves if presolve is None else presolve)
    saves = _Saves(checkpoint, resume, fix)
    return _Solve(chosen, limits, threads, tuple(callbacks), saves).result(run, prepared, initial)


def _chosen(solver: str | Solver, params: Mapping[str, Any] | None) -> tuple[Solver, str]:
    """The solver and its name."""
    if isinstance(solver, str):
        return make_solver(solver, params), solver
    if params:
        raise ParameterError("params go with a solver's name; a Solver object has its own")
    return solver, type(solver).__name__


def _check(seed: int, threads: int) -> None:
    if seed < 0:
        raise ParameterError(f"a seed is at least 0, not {seed}")
    if threads < 1:
        raise ParameterError(f"threads is at least 1, not {threads}")


@dataclass(frozen=True)
class _Saves:
    """What was asked for about checkpoints."""

    checkpoint: str | Path | None
    resume: bool
    fix: Mapping[str, Label] | None

    def begin(self, solver: Solver, search: Search, run: Run, reduced: Problem) -> Schedule:
        """When to save; the search and the run have gone back to where the file ends if that was asked for."""
        saving = schedule(self.checkpoint, solver, run, reduced, self.fix)
        if self.resume:
            saving.resume(search, run)
        return saving


@dataclass(frozen=True)
class _Solve:
    """How one solve goes, from its options; what becomes of it is in a `Run`."""

    solver: Solver
    limits: Limits
    threads: int
    callbacks: tuple[Callback, ...]
    saves: _Saves

    def result(self, run: Run, prepared: Preparation, initial: Mapping[str, Label] | ArrayLike | None) -> Result:
        """Start a search on what is prepared, and step it to its end."""
        run.notes += prepared.notes
        if prepared.infeasible:
            return run.result(Status.INFEASIBLE)
        start = None if initial is None else prepared.start(initial, run)
        limits = self.limits
        budget = Budget(_left(limits.time, run.clock.now), limits.iterations, limits.memory, self.threads)
        with Interruption() as interruption:
            search = self.solver.start(prepared.reduced, seed=run.seed, budget=budget, initial=start)
            try:
                saving = self.saves.begin(self.solver, search, run, prepared.reduced)
                status = self._loop(search, run, prepared, interruption, saving)
                run.notes += search.summary()
            finally:
                search.close()
        return run.result(status)

    def _loop(
        self, search: Search, run: Run, prepared: Preparation, interruption: Interruption, saving: Schedule
    ) -> Status:
        """Step until the search has finished or something ends it; at least once, so that there is an answer."""
        stepped, finished = False, None
        while True:
            if interruption.requested:
                status = Status.INTERRUPTED
                break
            if (stepped or self.limits.iterations == 0) and self.limits.reached(run.progress):
                status = Status.LIMIT
                break
            finished = take(checked_step(search), run, prepared)
            stepped = True
            saving.boundary(search, run)
            answers = [callback(run.progress) for callback in self.callbacks]
            if finished is not None or any(answers):
                status = finished or Status.INTERRUPTED
                break
            run.progress.time = run.clock.now
        saving.finish(search, run, ended=finished is not None)
        if finished is None and (pending := search.pending()) is not None:
            keep(pending, run, prepared)  # not in the checkpoint: a resumed search comes upon it by itself
        return status


def _left(time_limit: float | None, spent: float) -> float | None:
    """What schedules may plan with after presolve; little is not counted, so that they do not depend on the clock.

    If nothing is left, a search still takes a step: one that is planned for a little time gives the best answer.
    """
    if time_limit is None or spent < NOTICEABLE * time_limit:
        return time_limit
    return max(time_limit - spent, NOTICEABLE * time_limit)
