"""The one driver: prepares the problem, steps a search, keeps the best, asks what ends it.

Every answer passes through here: costs are recomputed from the problem's own tables, bounds are kept
monotone and on their side, and a solver that claims what does not hold is stopped (`verification`).
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import ArrayLike

from dabp.compiling import compiling
from dabp.driver.arguments import as_callbacks, as_path, as_seed, as_threads, check_given, check_solver
from dabp.driver.checkpoint.contents import identity
from dabp.driver.checkpoint.file import Origin
from dabp.driver.checkpoint.saving import Saving, owned
from dabp.driver.claims import keep, take
from dabp.driver.first_guess import first_guess
from dabp.driver.interruption import Interruption
from dabp.driver.peers import Peers, hear
from dabp.driver.preparation import Preparation, Start
from dabp.driver.relaxing import Relaxing
from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.driver.stopping import Idleness, Limits, Progress
from dabp.errors import ParameterError
from dabp.problem import Assignment, Problem
from dabp.problem.guard import INTERRUPTED, TIME, Guard
from dabp.problem.model import Model
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
WORTH_A_NOTE = 1.0
"""Seconds of compilation from which on a note says so."""


def solve(
    problem: Problem | Model,
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
    initial: Mapping[str, Label] | ArrayLike | Result | None = None,
    fix: Mapping[str, Label] | None = None,
    relax: bool | Mapping[str, float] = False,
    presolve: bool | None = None,
    callbacks: Iterable[Callback] = (),
    checkpoint: str | Path | None = None,
    resume: bool = False,
    display: bool = False,
    peers: Peers | None = None,
) -> Result:
    """Find an assignment of least cost (or largest, when the problem maximises).

    SIGINT (Ctrl-C) and SIGTERM end it with the best assignment found; a second Ctrl-C raises `KeyboardInterrupt`.

    Parameters
    ----------
    problem, solver, params
        What to solve, a `Model` is built first; a name (see ``dabp solvers``) with parameters, or a `Solver`.
    time_limit
        Seconds from this call, all included; `math.inf` for none. 30 if nothing else is sure to end the solve.
    max_iterations, target, stagnation, memory_limit
        End after so many iterations; at a cost as good as this; after so many without one; at so many bytes held.
    seed, threads, initial, fix
        Same seed and limits by iterations, same result.
        An assignment to start from, by name and label, as value indices or an earlier result; values held, by name.
    relax, presolve
        Violate hard constraints, if they cannot all hold: the fewest, or the cheapest by these prices of their names;
        simplify exactly before solving, by default if the solver asks for it.
    checkpoint, resume, callbacks, display, peers
        A file that the state is saved to every few seconds, and whether to continue from it.
        Called after each block, a true answer ends it; whether to show progress; others at work (`solve_together`).
    """
    clock, given = Clock(), problem.build() if isinstance(problem, Model) else problem
    with Interruption() as interruption:
        check_given(given, fix)
        problem = (relaxing := Relaxing(given, relax)).problem
        chosen, name = _chosen(solver, params)
        asked = Limits(time_limit, max_iterations, target, stagnation, memory_limit, problem.maximize)
        limits = asked.for_solver(chosen, name)
        run, guard = (
            RunningSolve(problem, name, as_seed(seed), clock),
            _guard(limits, interruption, clock),
        )
        start = Start(fix, initial, chosen.presolves if presolve is None else presolve, chosen.proves)
        with owned(as_path(checkpoint), resume=resume) as path, _shown(display, as_callbacks(callbacks)) as told:
            solving = _Solve(chosen, limits, guard, as_threads(threads), told, _schedule(path, chosen, run, fix), peers)
            return relaxing.told(solving.result(run, start, resume=resume))


def _guard(limits: Limits, interruption: Interruption, clock: Clock) -> Guard:
    return limits.guard(lambda: interruption.requested, clock)


@contextlib.contextmanager
def _shown(display: bool, callbacks: Iterable[Callback]) -> Iterator[tuple[Callback, ...]]:
    """The callbacks, with a live line if one is wanted."""
    if not display:
        yield tuple(callbacks)
        return
    from dabp.driver.live import LiveLine  # Rich, loaded only when wanted

    with LiveLine() as line:
        yield (line, *callbacks)


def _schedule(path: Path | None, solver: Solver, run: RunningSolve, fix: Mapping[str, Label] | None) -> Saving:
    if path is None:
        return Saving()
    if not solver.checkpoints:
        raise ParameterError(f"solver {run.solver!r} does not support checkpoints")
    return Saving(path, Origin(identity(run.problem, fix), f"{solver!r} seed {run.seed}"))


def _chosen(solver: str | Solver, params: Mapping[str, Any] | None) -> tuple[Solver, str]:
    """The solver and its name."""
    check_solver(solver, params)
    if isinstance(solver, str):
        return make_solver(solver, params), solver
    if params:
        raise ParameterError("params go with a solver's name; a Solver object has its own")
    return solver, type(solver).__name__


@dataclass(frozen=True)
class _Solve:
    """How one solve goes; what becomes of it is in a `RunningSolve`."""

    solver: Solver
    limits: Limits
    guard: Guard
    threads: int
    callbacks: tuple[Callback, ...]
    saving: Saving
    peers: Peers | None = None

    def result(self, run: RunningSolve, start: Start, *, resume: bool) -> Result:
        """From the first guess to the end, in stages that each ask the guard."""
        compiled = compiling.seconds
        initial = start.offer(run, self.guard)
        if resume:
            self.saving.read(run)
        prepared = start.prepared(run, self.guard)
        status, limit = self._searched(run, prepared, initial)
        if limit == TIME and self.limits.note:
            run.notes.append(f"{self.limits.note} (time_limit; math.inf for none)")
        if (seconds := compiling.seconds - compiled) > WORTH_A_NOTE:
            advice = "once on this machine; `dabp doctor --compile` compiles all"
            run.notes.append(f"compiling kernels took {seconds:.0f} s, which no limit counts, {advice}")
        return run.result(status, limit)

    def _searched(
        self, run: RunningSolve, prepared: Preparation, initial: Assignment | None
    ) -> tuple[Status, str | None]:
        """Start a search on what is prepared, if there is time, and step it to its end: why it ended, and the limit."""
        if prepared.infeasible:
            return Status.INFEASIBLE, None
        if (reason := self.guard.reason) is not None:
            keep(first_guess(prepared.reduced), run, prepared)  # presolve may have come to know better
            return _stopped(reason)
        limits = self.limits
        left = _left(limits.seconds, run.clock.now)
        budget = Budget(left, limits.iterations, limits.memory, self.threads, self.guard)
        projected = None if initial is None else prepared.project(initial)
        if projected is not None:
            keep(projected, run, prepared)
        search = self.solver.start(prepared.reduced, seed=run.seed, budget=budget, initial=projected)
        try:
            self.saving.resume(search, run, prepared.reduced)
            ended = self._loop(search, run, prepared)
            run.notes += search.summary()
            run.traffic = search.traffic()
            run.believe(prepared.lift_beliefs(search.beliefs()), ended[0])
        finally:
            search.close()
        return ended

    def _loop(self, search: Search, run: RunningSolve, prepared: Preparation) -> tuple[Status, str | None]:
        """Step until the search has finished or something ends it."""
        finished, told, idleness = None, False, Idleness(run.solver)
        stepped = False
        self.saving.begin(search, run, prepared.reduced)
        while (reason := self.guard.reason or self.limits.reached(run.progress)) is None:
            if not stepped:
                self.saving.begin(search, run, prepared.reduced)
            step = checked_step(search)
            stepped = True
            finished = take(step, run, prepared)
            run.progress.time_left = self.guard.seconds_left
            if finished is None:  # a search that has ended is resumed from before that, and ends again
                self.saving.boundary(search, run, prepared.reduced)
            if finished is None and self.peers is not None:
                finished = hear(self.peers, search, run, prepared)
            answers = [callback(run.progress) for callback in self.callbacks]
            told = any(answers) or (self.peers is not None and self.peers.ended)
            if finished is not None or told:
                break
            idleness.look(step, run.clock.now)
        if stepped or not self.saving.resumed:
            self.saving.finish(search, run, prepared.reduced, ended=finished is not None)
        if finished is None and (pending := search.pending()) is not None:
            keep(pending, run, prepared)  # not in the checkpoint: a resumed search comes upon it by itself
        if finished is not None:
            return finished, None
        return _stopped(INTERRUPTED if told else reason)


def _stopped(reason: str | None) -> tuple[Status, str | None]:
    """The status, and the limit if it was one, of a solve that was stopped from outside."""
    return (Status.INTERRUPTED, None) if reason == INTERRUPTED else (Status.LIMIT, reason)


def _left(time_limit: float | None, spent: float) -> float | None:
    """What schedules may plan with after presolve; little is not counted, so that they do not depend on the clock."""
    if time_limit is None or spent < NOTICEABLE * time_limit:
        return time_limit
    return max(time_limit - spent, NOTICEABLE * time_limit)
