"""Independent restarts of one problem, spread over an executor: a process pool, or a Dask cluster's.

Anything with the interface of `concurrent.futures.Executor` will do; ``distributed.Client(…).get_executor()`` is one.
"""

from __future__ import annotations

import dataclasses
import math
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor, as_completed
from concurrent.futures import TimeoutError as LateError
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from dabp.driver.arguments import as_count_to, as_seed, checked_problem
from dabp.driver.result import Result
from dabp.driver.solve import solve
from dabp.driver.stopping import Limits
from dabp.errors import DabpError, SolverError, refuse_unknown
from dabp.problem import Problem
from dabp.problem.model import Model
from dabp.problem.views import Label
from dabp.solvers.base import Solver
from dabp.solvers.status import Status

GRACE_SECONDS = 10.0
"""Seconds to wait for running workers after the time limit, the first answer or an interrupt."""
COMPILING_SECONDS = 300.0
"""More seconds to wait for the first answer: workers start slowly, and compiling a kernel cannot be stopped."""

_PROOFS = (Status.OPTIMAL, Status.INFEASIBLE)
_stopped = ""
"""In a worker process: the call that a signal has ended, whose other restarts do not start any more."""


class WorkerOptions(TypedDict, total=False):
    """Keyword arguments of each worker's solve, as for `dabp.solve`."""

    params: Mapping[str, Any] | None
    target: float | None
    memory_limit: int | str | None
    threads: int
    initial: Mapping[str, Label] | ArrayLike | Result | None
    fix: Mapping[str, Label] | None
    presolve: bool | None


class Options(WorkerOptions, total=False):
    """Keyword arguments of each restart, as for `dabp.solve`; callbacks and checkpoints go with single solves only."""

    max_iterations: int | None
    stagnation: int | None


def solve_restarts(
    problem: Problem | Model,
    solver: str | Solver = "auto",
    *,
    restarts: int,
    executor: Executor,
    seed: int = 0,
    time_limit: float | None = None,
    **options: Unpack[Options],
) -> Result:
    """Solve `restarts` times with different seeds; returns the best answer and the best bound.

    The seeds depend on `seed` and the number of the restart only: without a time limit the answer does not depend on
    the number of workers. A proof ends the other restarts. A restart that is lost with its worker is noted and left
    out; if all are lost, the last one's error is raised. Ctrl-C ends running restarts, and the answer is the best of
    those that end within ten seconds.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`; see `Options`.
    restarts
        Number of restarts, at most 100,000.
    executor
        Runs the restarts.
    seed
        Decides the restarts' seeds.
    time_limit
        Seconds for all restarts together: one that starts later gets the time left, one that starts too late is
        skipped, except the first. On several machines this needs clocks that agree.
    """
    started = time.perf_counter()
    problem = checked_problem(problem)
    refuse_unknown("solve_restarts", options, Options.__annotations__)
    restarts, seed = as_count_to(100_000, "restarts", restarts), as_seed(seed)
    Limits(time=time_limit)
    deadline = None if time_limit is None else time.time() + time_limit
    stop, call = threading.Event(), uuid.uuid4().hex
    # Threads see no signals; those of other processes do by themselves.
    callbacks = (lambda progress: stop.is_set(),) if isinstance(executor, ThreadPoolExecutor) else ()
    tasks = [
        (problem, solver, own, deadline, {**options, "callbacks": callbacks}, call, index == 0)
        for index, own in enumerate(restart_seeds(seed, restarts))
    ]
    under_way = _UnderWay()
    interrupted = under_way.run(executor, tasks, stop, time_limit)
    if not interrupted:
        _raise_if_lost(under_way.found, under_way.errors)
    best = dataclasses.replace(_best(under_way.found, problem.maximize, seed, solver), problem=problem)
    return dataclasses.replace(
        best,
        status=Status.INTERRUPTED if interrupted and best.status not in _PROOFS else best.status,
        iterations=sum(result.iterations for result in under_way.found.values()),
        runtime=time.perf_counter() - started,
        seed=seed,
        notes=(*best.notes, *under_way.notes(restarts)),
    )


class _UnderWay:
    """The restarts that an executor has, and those that have ended."""

    def __init__(self) -> None:
        self.found: dict[int, Result] = {}
        self.errors: list[BaseException] = []
        self._decided = False  # by a proof, or by a mistake of the caller
        self._waiting: dict[Future[Result | None], int] = {}

    def run(
        self, executor: Executor, tasks: Iterable[tuple[Any, ...]], stop: threading.Event, time_limit: float | None
    ) -> bool:
        """Submit and collect the restarts, then set `stop`; True if Ctrl-C interrupted this."""
        interrupted = False
        try:
            for index, task in enumerate(tasks):
                self._waiting[executor.submit(_restart, *task)] = index
            self.collect(None if time_limit is None else time_limit + GRACE_SECONDS, for_first=COMPILING_SECONDS)
        except KeyboardInterrupt:
            interrupted = True
            stop.set()
            self.cancel()
            self.collect(GRACE_SECONDS)
        finally:
            stop.set()
            self.cancel()
        return interrupted

    def notes(self, restarts: int) -> list[str]:
        """How many restarts ended, and why others were lost."""
        lost = [f"a restart was lost: {_text(error)}" for error in self.errors]
        return [f"{len(self.found)} of {restarts} restarts ended", *lost]

    def collect(self, patience: float | None, for_first: float = 0.0) -> None:
        """Take results for `patience` seconds (None: no limit), until one decides for all or none is left.

        Until the first answer the limit is `for_first` seconds later, and at least `GRACE_SECONDS` after it.
        """
        until = math.inf if patience is None else time.monotonic() + patience
        while self._waiting and not self._decided:
            answered = bool(self.found)
            left = max(until + (0.0 if answered else for_first) - time.monotonic(), 0.0)
            try:
                for future in as_completed(self._waiting.copy(), min(left, threading.TIMEOUT_MAX)):
                    self._take(future)
                    if self._decided or bool(self.found) != answered:
                        break
            except LateError:
                self.errors.append(LateError("a restart did not end in time"))
                return
            if self.found and not answered:
                until = max(until, time.monotonic() + GRACE_SECONDS)

    def cancel(self) -> None:
        """Forget the restarts that have not started."""
        for future in list(self._waiting):
            if not future.done() and future.cancel():
                del self._waiting[future]

    def _take(self, future: Future[Result | None]) -> None:
        """Keep a restart's result, which is None if it started too late, or its error."""
        index = self._waiting.pop(future)
        error = CancelledError("it was cancelled") if future.cancelled() else future.exception()
        if error is not None:
            self.errors.append(error)
            self._decided |= isinstance(error, DabpError)
        elif (result := future.result()) is not None:
            self.found[index] = result
            self._decided |= result.status in _PROOFS


def _raise_if_lost(found: Mapping[int, Result], errors: list[BaseException]) -> None:
    """Mistakes of the caller are raised as they are; lost workers only if no other has answered."""
    for error in errors:
        if isinstance(error, DabpError):
            raise error
    if not found:
        raise SolverError(f"no restart came back: {_text(errors[-1]) if errors else 'all were too late'}")


def _text(error: BaseException) -> str:
    return str(error) or type(error).__name__


def restart_seeds(seed: int, restarts: int) -> list[int]:
    """A seed per restart; the first is `seed` itself, so that one restart is a plain solve."""
    drawn = np.random.SeedSequence(seed).generate_state(restarts, np.uint32).tolist()
    return [seed, *drawn[1:]]


def _restart(
    problem: Problem,
    solver: str | Solver,
    seed: int,
    deadline: float | None,
    options: Mapping[str, Any],
    call: str,
    first: bool,
) -> Result | None:
    """One restart, in a worker; None if it starts too late and is not the first, or a signal has ended the call."""
    global _stopped
    left = None if deadline is None else max(deadline - time.time(), 0.0)
    if call == _stopped or (left == 0 and not first):
        return None
    try:
        result = solve(problem, solver, seed=seed, time_limit=left, **{"threads": 1, **options})
    except KeyboardInterrupt:
        _stopped = call
        raise
    if result.status is Status.INTERRUPTED and not options.get("callbacks"):
        _stopped = call
    return result


def _best(found: Mapping[int, Result], maximize: bool, seed: int, solver: str | Solver) -> Result:
    """The best answer (the earliest restart's among equals) with the tightest bound of all."""
    if not found:
        name = solver if isinstance(solver, str) else type(solver).__name__
        return Result(None, None, Status.INTERRUPTED, None, 0, 0.0, seed, name)
    sign = -1.0 if maximize else 1.0
    proved = [result for result in found.values() if result.status in _PROOFS]
    bounds = [sign * result.bound for result in found.values() if result.bound is not None]
    index = min(found, key=lambda i: (_rank(found[i], sign), i))
    best = proved[0] if proved else found[index]
    bound = sign * max(bounds) if bounds else None
    if not proved and best.cost is not None and bound == best.cost:
        return dataclasses.replace(best, bound=bound, status=Status.OPTIMAL)
    return dataclasses.replace(best, bound=bound)


def _rank(result: Result, sign: float) -> float:
    return math.inf if result.cost is None else sign * result.cost
