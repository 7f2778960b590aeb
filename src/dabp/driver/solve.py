"""The one driver: prepares the problem, steps a search, keeps the best, asks what ends it.

Every answer passes through here: costs are recomputed from the problem's own tables, bounds are kept
monotone and on their side, and a solver that claims what does not hold is stopped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dabp.driver.result import Result
from dabp.driver.saving import Saving
from dabp.driver.stopping import Interruption, Limits, Progress
from dabp.driver.trace import Trace
from dabp.errors import ParameterError, ProblemError, SolverError
from dabp.problem import Assignment, Problem
from dabp.problem.reduction import Conditioned, Reduction
from dabp.problem.views import Label
from dabp.solvers import make_solver
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.clock import Clock
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
    restarts: int | None = None,
    executor: Executor | None = None,
) -> Result:
    """Find an assignment of least cost (or largest, when the problem maximises).

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
    restarts, executor
        Solve so many times with seeds of their own, spread over an executor (a process pool, a Dask client's), and
        give the best; see `dabp.driver.restarts`. Callbacks and checkpoints stay with single solves.

    Returns
    -------
    Result
        With the best assignment found, also when interrupted by SIGINT or SIGTERM.
    """
    if (restarts is None) != (executor is None):
        raise ParameterError("restarts and executor go together: how many, and who runs them")
    if restarts is not None and executor is not None:
        if callbacks or checkpoint is not None:
            raise ParameterError("callbacks and checkpoints do not go with an executor")
        from dabp.driver.restarts import solve_restarts

        options = {
            "max_iterations": max_iterations,
            "target": target,
            "stagnation": stagnation,
            "memory_limit": memory_limit,
            "threads": threads,
            "initial": initial,
            "fix": fix,
            "presolve": presolve,
        }
        return solve_restarts(
            problem,
            solver,
            restarts=restarts,
            executor=executor,
            seed=seed,
            time_limit=time_limit,
            params=params,
            **options,
        )
    clock = Clock()
    if isinstance(solver, Solver) and params:
        raise ParameterError("params go with a solver's name; a Solver object has its own")
    if seed < 0:
        raise ParameterError(f"a seed is at least 0, not {seed}")
    if threads < 1:
        raise ParameterError(f"threads is at least 1, not {threads}")
    name = solver if isinstance(solver, str) else type(solver).__name__
    chosen = make_solver(solver, params) if isinstance(solver, str) else solver
    limits = Limits(time_limit, max_iterations, target, stagnation, memory_limit, problem.maximize)
    run = _Run(problem, chosen, name, limits, clock, seed, tuple(callbacks))
    reductions = _reductions(problem, fix, chosen.presolves if presolve is None else presolve)
    if not run.prepare(reductions, initial):
        return run.result(Status.INFEASIBLE)
    budget = Budget(_left(time_limit, clock.now), max_iterations, memory_limit, threads)
    with Interruption() as interruption:
        search = chosen.start(run.reduced, seed=seed, budget=budget, initial=run.start_from)
        try:
            saving = Saving.of(checkpoint, chosen, fix, resume, search, run)
            status = run.loop(search, interruption, saving)
            run.notes += search.summary()
        finally:
            search.close()
    return run.result(status)


def _left(time_limit: float | None, spent: float) -> float | None:
    """What schedules may plan with after presolve; little is not counted, so that they do not depend on the clock.

    If nothing is left, a search still takes a step: one that is planned for a little time gives the best answer.
    """
    if time_limit is None or spent < NOTICEABLE * time_limit:
        return time_limit
    return max(time_limit - spent, NOTICEABLE * time_limit)


def _reductions(problem: Problem, fix: Mapping[str, Label] | None, presolve: bool) -> list[Reduction]:
    steps: list[Reduction] = []
    if fix:
        indices = {problem.variable_index(n): problem.value_index(problem.variable_index(n), v) for n, v in fix.items()}
        steps.append(Conditioned(problem.minimized(), indices))
    if presolve:
        from dabp.presolve import presolve as simplify  # compiled kernels, loaded only when wanted

        steps.append(simplify(steps[-1].problem if steps else problem.minimized()))
    return steps


class _Run:
    """One solve: the incumbent and the bound, in the problem's own units and direction."""

    def __init__(
        self,
        problem: Problem,
        solver: Solver,
        name: str,
        limits: Limits,
        clock: Clock,
        seed: int,
        callbacks: tuple[Callback, ...],
    ):
        self.problem, self.solver, self.name, self.limits = problem, solver, name, limits
        self.clock, self.seed, self.callbacks = clock, seed, callbacks
        self.sign = -1.0 if problem.maximize else 1.0
        self.progress = Progress()
        self.trace = Trace(maximize=problem.maximize)
        self.notes: list[str] = []
        self.reduced = problem.minimized()
        self.start_from: Assignment | None = None
        self.earlier = 0.0  # seconds before a resume
        self._reductions: list[Reduction] = []

    def prepare(self, reductions: list[Reduction], initial: Mapping[str, Label] | ArrayLike | None) -> bool:
        """Take the reductions and the initial assignment; False if infeasibility is already proved."""
        self._reductions = reductions
        if reductions:
            self.reduced = reductions[-1].problem
        for step in reductions:
            self.notes += getattr(step, "summary", ())
            if getattr(step, "infeasible", False):
                return False
        if initial is None:
            return True
        given = self.problem.assignment(initial) if isinstance(initial, Mapping) else np.asarray(initial)
        cost = self.problem.cost(given)
        if np.ndim(cost):
            raise ProblemError("initial is one assignment, not a batch")
        start = given.astype(np.int64)
        conditions = [step for step in reductions if isinstance(step, Conditioned)]
        if all(np.array_equal(step.lift(step.project(start)), start) for step in conditions):
            self._keep(start)  # as it is: presolve may have no place for it
        for step in reductions:
            start = step.project(start)
        self.start_from = start
        self._offer(start)
        return True

    def lift(self, assignment: Assignment) -> Assignment:
        """From the problem the solver sees to the user's."""
        for step in reversed(self._reductions):
            assignment = step.lift(assignment)
        return assignment

    def loop(self, search: Search, interruption: Interruption, saving: Saving) -> Status:
        """Step until the search has finished or something ends it; at least once, so that there is an answer."""
        stepped, finished = False, None
        while True:
            if interruption.requested:
                status = Status.INTERRUPTED
                break
            if (stepped or self.limits.iterations == 0) and self.limits.reached(self.progress):
                status = Status.LIMIT
                break
            finished = self.take(search.step())
            stepped = True
            saving.boundary(search, self)
            answers = [callback(self.progress) for callback in self.callbacks]
            if finished is not None or any(answers):
                status = finished or Status.INTERRUPTED
                break
            self.progress.time = self.clock.now
        saving.finish(search, self, ended=finished is not None)
        if finished is None and (pending := search.pending()) is not None:
            self._offer(pending)  # not in the checkpoint: a resumed search comes upon it by itself
        return status

    def take(self, step: Step) -> Status | None:
        """Digest one block: check, keep the best, tighten the bound; the status if nothing more will come."""
        progress = self.progress
        progress.time = self.clock.now
        elapsed = self.earlier + progress.time
        self.trace.add_block(elapsed, self.sign * step.costs)
        progress.iterations += len(step.costs)
        progress.block, progress.records, progress.improved = self.sign * step.costs, step.records, False
        self.trace.records += [{"time": elapsed, **record} for record in step.records]
        self.notes += step.notes
        if step.best is not None:
            actual = self.reduced.cost(step.best)
            off = abs(actual - step.best_cost) if actual != step.best_cost else 0.0
            if off > 1e-6 * max(1.0, abs(actual)) + 1e3 * self.reduced.rounding(actual):
                raise SolverError(f"solver {self.name!r} reported cost {step.best_cost}, its assignment costs {actual}")
            self._offer(step.best)
        if step.bound is not None:
            self._tighten(step.bound)
        if step.finished is Status.OPTIMAL:
            if progress.cost is None and self.problem.limit is not None:
                return Status.INFEASIBLE  # the optimum of all assignments is not better than the limit
            if progress.cost is None:
                raise SolverError(f"solver {self.name!r} calls optimal what it gave no assignment for")
            self._tighten(self.sign * progress.cost)
            return Status.OPTIMAL
        if step.finished is Status.INFEASIBLE and progress.cost is not None:
            raise SolverError(f"solver {self.name!r} calls infeasible what has an assignment of cost {progress.cost}")
        if progress.bound is not None:
            if not self.problem.within_limit(progress.bound):
                return Status.INFEASIBLE
            if progress.cost == progress.bound:
                return Status.OPTIMAL
        return step.finished

    def _offer(self, reduced: Assignment) -> None:
        """Keep an assignment of the reduced problem if it beats the incumbent."""
        self._keep(self.lift(np.asarray(reduced, dtype=np.int64)))

    def _keep(self, lifted: Assignment) -> None:
        progress = self.progress
        cost = float(self.problem.cost(lifted))
        if not math.isfinite(cost) or not self.problem.within_limit(cost):
            return
        if progress.cost is not None and self.sign * cost >= self.sign * progress.cost:
            return
        progress.cost, progress.assignment, progress.improved = cost, lifted, True
        progress.last_improvement = progress.iterations
        self.trace.improvements.append((self.earlier + self.clock.now, progress.iterations, cost))
        if progress.bound is not None:
            self._tighten(self.sign * progress.bound)

    def _tighten(self, bound: float) -> None:
        """Take a lower bound of the minimisation: monotone, rounded up for integers, never past the incumbent."""
        progress = self.progress
        if not math.isfinite(bound):
            return
        if self.problem.integral:
            bound = float(math.ceil(bound - 1e-6))
        if progress.bound is not None:
            bound = max(bound, self.sign * progress.bound)
        if progress.cost is not None:
            cost = self.sign * progress.cost
            slack = self.problem.rounding(cost)
            if bound > cost + 1e3 * slack:
                raise SolverError(f"solver {self.name!r} gave bound {self.sign * bound}, beyond cost {progress.cost}")
            if bound >= cost - slack:
                bound = cost
        signed = self.sign * bound + 0.0
        if signed != progress.bound:
            progress.bound = signed
            self.trace.bounds.append((self.earlier + self.clock.now, progress.iterations, signed))

    def result(self, status: Status) -> Result:
        """The answer as it stands."""
        progress = self.progress
        return Result(
            assignment=progress.assignment,
            cost=progress.cost,
            status=status,
            bound=progress.bound,
            iterations=progress.iterations,
            runtime=self.earlier + self.clock.now,
            seed=self.seed,
            solver=self.name,
            values=None if progress.assignment is None else self.problem.labelled(progress.assignment),
            trace=self.trace,
            notes=tuple(self.notes),
        )
