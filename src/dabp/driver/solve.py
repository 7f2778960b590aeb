"""`solve`: check the arguments, prepare the problem, step a search until something ends it, and report the best.

Every answer passes through here: costs are recomputed from the problem's own tables, bounds stay monotone and on
their side of the optimum, and a solver whose claims do not hold is stopped with an error (`claims`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike

from dabp.compiling import compiling
from dabp.driver.arguments import (
    as_callbacks,
    as_observer,
    as_seed,
    as_threads,
    check_fix,
    checked_problem,
    chosen_solver,
)
from dabp.driver.checkpoint.saving import Checkpoint, Saving, saving_to
from dabp.driver.claims import ending, keep, take
from dabp.driver.first_answers import FirstAnswers, first_guess
from dabp.driver.interruption import Interruption
from dabp.driver.peers import Peers, exchange
from dabp.driver.preparation import Preparation
from dabp.driver.relaxing import Relaxing
from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.driver.stopping import Ended, Idleness, Limits, Progress
from dabp.errors import ParameterError, SolverError, refuse_unknown
from dabp.problem import Assignment, Problem
from dabp.problem.guard import INTERRUPTED, TIME, Guard
from dabp.problem.model import Model
from dabp.problem.small_elimination import cheap_order
from dabp.problem.views import Label
from dabp.solvers.base import Budget, Search, Solver
from dabp.solvers.clock import Clock
from dabp.solvers.finite_numbers import checked_step
from dabp.solvers.status import Status

Callback = Callable[[Progress], Any]
"""Called after each block; a true answer ends the solve with status INTERRUPTED."""


class Options(TypedDict, total=False):
    """Keyword arguments of `solve` in addition to its signature's."""

    max_iterations: int | None
    """End after this number of iterations."""
    target: float | None
    """End at a cost that is as good as this."""
    stagnation: int | None
    """End after this number of iterations without an improvement."""
    memory_limit: int | str | None
    """End when the process uses more memory: bytes, or text with a unit such as ``"2GB"``."""
    initial: Mapping[str, Label] | ArrayLike | Result | None
    """An assignment to start from: labels by variable name, value indices, or an earlier result."""
    fix: Mapping[str, Label] | None
    """Values that variables keep, by variable name."""
    relax: bool | str | Mapping[str, float]
    """If not all hard constraints can hold, violate them by the least (True or ``"amount"``), violate the fewest
    (``"count"``), or the cheapest by these prices by name."""
    presolve: bool | None
    """Whether to simplify the problem exactly first; None: as the solver declares."""
    callbacks: Iterable[Callback]
    """Functions that are called with a `Progress` after each block."""
    observe: Callable[[Any], object] | None
    """Called with an `Observation` of each iteration of the solver dabp."""
    resume: bool
    """Whether to continue from the checkpoint."""
    display: bool
    """Whether to show a live line."""


def solve(
    problem: Problem | Model,
    solver: str | Solver = "auto",
    *,
    time_limit: float | None = None,
    params: Mapping[str, Any] | None = None,
    seed: int = 0,
    threads: int | None = None,
    limits: Limits | None = None,
    checkpoint: str | Path | Checkpoint | None = None,
    **options: Unpack[Options],
) -> Result:
    """Find an assignment of least cost (or largest, when the problem maximises).

    SIGINT (Ctrl-C) and SIGTERM end it with the best assignment found; a second Ctrl-C raises `KeyboardInterrupt`.

    Parameters
    ----------
    problem
        What to solve; a `Model` is built first.
    solver, params
        A name (see ``dabp solvers``) with parameters, or a `Solver`.
    time_limit
        Seconds from this call, preparations included; `math.inf` for no limit. The default is 30 if nothing else is
        sure to end the solve.
    seed
        Seed of all randomness: runs with the same seed and limits on iterations only have the same result.
    threads
        Cores to use; by default all available ones for `auto`, one for other solvers.
    limits
        A `Limits` object instead of `time_limit` and the limits in `options`.
    checkpoint
        A file to which the state is saved every few seconds, or a `Checkpoint`.
    options
        `max_iterations`, `target`, `stagnation`, `memory_limit`, `initial`, `fix`, `relax`, `presolve`, `callbacks`,
        `observe`, `resume` and `display`: see `Options`.
    """
    given = {"time_limit": time_limit, "params": params, "seed": seed, "threads": threads}
    return solve_among(None, problem, solver, {**given, "limits": limits, "checkpoint": checkpoint, **options})


KEYWORDS = (*(solve.__kwdefaults__ or ()), *Options.__annotations__)
"""Keyword arguments of `solve`."""


def solve_among(
    peers: Peers | None, problem: Problem | Model, solver: str | Solver, options: Mapping[str, Any]
) -> Result:
    """`solve`, while `peers` work on the same problem and exchange assignments and bounds with this solve."""
    clock = Clock()
    with Interruption() as interruption:
        relaxing = Relaxing(checked_problem(problem), options.get("relax", False))
        request = Request.of(relaxing.problem, solver, options)
        run = RunningSolve(request.problem, request.name, request.seed, clock)
        guard = request.limits.guard(interruption, clock)
        with request.saving() as saving, request.shown() as callbacks:
            compiled = compiling.seconds
            ended = _Solve(request, run, guard, saving, callbacks, peers).ended()
        if ended.limit == TIME and request.limits_note:
            run.notes.append(f"{request.limits_note} (time_limit; math.inf for none)")
        if (seconds := compiling.seconds - compiled) > 1.0:
            advice = "once on this machine; `dabp doctor --compile` compiles all"
            run.notes.append(f"compiling kernels took {seconds:.0f} s, which no limit counts, {advice}")
        return relaxing.translated(run.result(ended))


@dataclass(frozen=True, kw_only=True)
class Request:
    """The checked arguments of one solve."""

    problem: Problem
    solver: Solver
    name: str
    seed: int
    threads: int
    limits: Limits
    limits_note: str
    """Why there is a time limit that the caller did not give; empty if the caller gave one."""
    checkpoint: Checkpoint | None
    first: FirstAnswers
    presolve: bool
    callbacks: tuple[Callback, ...]
    observe: Callable[[Any], object] | None
    display: bool

    @classmethod
    def of(cls, problem: Problem, solver: str | Solver, options: Mapping[str, Any]) -> Request:
        """Check the arguments of `solve`; raises `DabpError` for the first that is wrong."""
        refuse_unknown("solve", options, KEYWORDS)
        chosen, name = chosen_solver(solver, options.get("params"))
        check_fix(fix := options.get("fix"))
        checkpoint = Checkpoint.of(options.get("checkpoint"), options.get("resume", False))
        if checkpoint is not None and not chosen.checkpoints:
            raise ParameterError(f"solver {name!r} does not support checkpoints")
        limits, note = Limits.of(options).for_solver(chosen, name)
        presolve = options.get("presolve")
        return cls(
            problem=problem,
            solver=chosen,
            name=name,
            seed=as_seed(options.get("seed", 0)),
            threads=as_threads(options.get("threads"), chosen),
            limits=limits,
            limits_note=note,
            checkpoint=checkpoint,
            first=FirstAnswers(fix, options.get("initial")),
            presolve=chosen.presolves if presolve is None else presolve,
            callbacks=as_callbacks(options.get("callbacks", ())),
            observe=as_observer(options.get("observe")),
            display=options.get("display", False),
        )

    def saving(self) -> contextlib.AbstractContextManager[Saving]:
        """The checkpoint's file, locked while the solve runs."""
        return saving_to(self.checkpoint, self.problem, self.first.fix, f"{self.solver!r} seed {self.seed}")

    @contextlib.contextmanager
    def shown(self) -> Iterator[tuple[Callback, ...]]:
        """The callbacks, with a live line first if `display` is set."""
        if not self.display:
            yield self.callbacks
            return
        from dabp.driver.live import LiveLine  # imports Rich

        with LiveLine() as line:
            yield (line, *self.callbacks)


@dataclass(frozen=True)
class _Solve:
    """The stages of one solve, which all ask the guard; results are stored in `run`."""

    request: Request
    run: RunningSolve
    guard: Guard
    saving: Saving
    callbacks: tuple[Callback, ...]
    peers: Peers | None

    def ended(self) -> Ended:
        """Guess, presolve and search; why the solve ended."""
        request, run, guard = self.request, self.run, self.guard
        initial = request.first.offer(run, guard)
        self.saving.read(run)
        fixed = request.first.fixed(run.problem)
        if request.presolve and run.problem.auxiliaries.statements and cheap_order(run.problem) is None:
            from dabp.solvers.linear.look import first_look  # loads compiled kernels

            found = first_look(run.problem, fixed, guard)
            if found.names is not None and run.progress.cost is None:
                run.notes.append("the linear rows of counts and sums contradict each other")
                return Ended(Status.INFEASIBLE)
            run.tighten(found.bound)
            if found.assignment is not None and self._beats(found.assignment):
                initial = found.assignment
            if (status := ending(None, run)) is not None:
                for callback in self.callbacks:
                    callback(run.shown())
                return Ended(status)
        prepared = Preparation(run.problem, fixed, request.presolve, guard, units=request.solver.proves)
        run.notes += prepared.notes
        if prepared.infeasible:
            if run.progress.cost is not None:
                raise SolverError(f"presolve reported infeasible, but an assignment costs {run.progress.cost}")
            return Ended(Status.INFEASIBLE)
        if (reason := guard.reason) is not None:
            keep(first_guess(prepared.reduced), run, prepared)  # presolve may have removed values of the first guess
            return Ended.by(reason)
        projected = None if initial is None else prepared.project(initial)
        if projected is not None:
            keep(projected, run, prepared)
        search = request.solver.start(prepared.reduced, seed=run.seed, budget=self._budget(), initial=projected)
        try:
            if request.observe is not None:
                search.observe(request.observe)
            self.saving.resume(search, run, prepared.reduced)
            ended = self._loop(search, prepared)
            run.close(search, prepared.lift_beliefs(search.beliefs()), ended.status)
        finally:
            search.close()
        return ended

    def _beats(self, assignment: Assignment) -> bool:
        """Offer an assignment to the run; whether it is the best one now."""
        before, cost = self.run.progress.cost, float(self.run.problem.cost(assignment))
        self.run.offer(assignment, cost)
        return self.run.progress.cost == cost != before

    def _budget(self) -> Budget:
        """The search's budget, its time less a preparation that took 5 % of the limit or more.

        Shorter preparations are not subtracted, so that a search's plans do not depend on the clock.
        """
        limits, spent = self.request.limits, self.run.clock.now
        left = limits.seconds
        if left is not None and spent >= 0.05 * left:
            left = max(left - spent, 0.05 * left)
        return Budget(left, limits.iterations, limits.bytes, self.request.threads, self.guard)

    def _loop(self, search: Search, prepared: Preparation) -> Ended:
        """Step until the search has finished or something ends it."""
        run, saving, limits = self.run, self.saving, self.request.limits
        ended, stopped, stepped, idleness = None, False, False, Idleness(run.solver)
        saving.begin(search, run, prepared.reduced)
        while (reason := self.guard.reason or limits.reached(run.progress, maximize=run.problem.maximize)) is None:
            step = checked_step(search)
            stepped, ended = True, take(step, run, prepared)
            run.progress.time_left = self.guard.seconds_left
            if ended is None:  # a search that has ended is resumed from before its end, and ends again
                saving.boundary(search, run, prepared.reduced)
                ended = None if self.peers is None else exchange(self.peers, search, run, prepared)
            answers = [callback(run.shown()) for callback in self.callbacks]
            stopped = any(answers) or (self.peers is not None and self.peers.ended)
            if ended is not None or stopped:
                break
            idleness.look(step, run.clock.now)
        if stepped or not saving.resumed:
            saving.finish(search, run, prepared.reduced, ended=ended is not None)
        if ended is None and (pending := search.pending()) is not None:
            keep(pending, run, prepared)  # not in the checkpoint: a resumed search finds it again
        if ended is None:
            return Ended.by(INTERRUPTED if stopped else reason)
        if ended.status is Status.LIMIT:  # a limit of the caller may have ended the search from inside
            reached = limits.reached(run.progress, maximize=run.problem.maximize) or self.guard.reason
            return ended if reached is None else Ended.by(reached)
        return ended
