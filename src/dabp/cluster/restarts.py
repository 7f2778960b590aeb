"""Independent restarts of one problem, spread over an executor: a process pool, or a Dask cluster's.

Anything with the interface of `concurrent.futures.Executor` will do; ``distributed.Client(…).get_executor()`` is one.
"""

from __future__ import annotations

import dataclasses
import math
import queue
import threading
import time
import uuid
from collections.abc import Iterable, Mapping
from concurrent.futures import CancelledError, Executor, Future, ThreadPoolExecutor
from concurrent.futures import TimeoutError as LateError
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from dabp.driver.arguments import as_count, as_seed, checked_problem
from dabp.driver.result import Result
from dabp.driver.solve import solve
from dabp.driver.stopping import Limits
from dabp.errors import DabpError, ParameterError, SolverError, suggestion
from dabp.problem import Problem
from dabp.problem.model import Model
from dabp.problem.views import Label
from dabp.solvers.base import Solver
from dabp.solvers.status import Status

GRACE = 10.0
"""Seconds after the time limit, the first answer or an interrupt that answers under way are waited for."""
COMPILING = 300.0
"""Seconds more for the first answer: workers start slowly, and the compilation of a kernel cannot be stopped."""
PROOFS = (Status.OPTIMAL, Status.INFEASIBLE)

_stopped = ""
"""In a worker process: the call that a signal has ended, whose other restarts are not begun any more."""


class Options(TypedDict, total=False):
    """What else a restart may be given, as for `dabp.solve`; callbacks and checkpoints stay with single solves."""

    params: Mapping[str, Any] | None
    max_iterations: int | None
    target: float | None
    stagnation: int | None
    memory_limit: int | str | None
    threads: int
    initial: Mapping[str, Label] | ArrayLike | Result | None
    fix: Mapping[str, Label] | None
    presolve: bool | None


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
    """Solve `restarts` times with seeds of their own, and give the best answer and the best bound.

    The seeds depend on `seed` and the number of the restart only, so that the answer does not depend on how many
    workers there are (limits by time aside). A proof ends the rest. A restart that is lost with its worker is noted
    and left out; if all are lost, the last one's error is raised. Ctrl-C ends those under way, and the best of what
    they give within `GRACE` seconds is the answer.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`; see `Options` for those that go with restarts.
    restarts
        How many.
    executor
        Who runs them.
    seed
        Decides the restarts' seeds.
    time_limit
        Seconds for all of them together: one that starts later gets what is left, one that comes too late is
        skipped, the first aside. On several machines this needs clocks that agree.
    """
    started = time.perf_counter()
    problem = checked_problem(problem)
    _check(problem, restarts, seed, time_limit, options)
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
        status=Status.INTERRUPTED if interrupted and best.status not in PROOFS else best.status,
        iterations=sum(result.iterations for result in under_way.found.values()),
        runtime=time.perf_counter() - started,
        seed=seed,
        notes=(*best.notes, *under_way.notes(restarts)),
    )


def _check(problem: Problem, restarts: int, seed: int, time_limit: float | None, options: Mapping[str, Any]) -> None:
    """Refuse at once what every restart would refuse."""
    if as_count("restarts", restarts, 1) is None:
        raise ParameterError("restarts is a whole number of at least 1, not None")
    as_seed(seed)
    Limits(time=time_limit)
    for name in options:
        if name not in Options.__annotations__:
            raise ParameterError(f"restarts take no {name!r}{suggestion(name, Options.__annotations__)}")


class _UnderWay:
    """The restarts that an executor has been given, and what has come back of them."""

    def __init__(self) -> None:
        self.found: dict[int, Result] = {}
        self.errors: list[BaseException] = []
        self._decided = False  # by a proof, or by a mistake that all restarts share
        self._waiting: dict[int, Future[Result | None]] = {}
        self._ended: queue.SimpleQueue[int] = queue.SimpleQueue()

    def run(
        self, executor: Executor, tasks: Iterable[tuple[Any, ...]], stop: threading.Event, time_limit: float | None
    ) -> bool:
        """Hand the restarts out and collect them, `stop` set at the end; True if Ctrl-C came between."""
        interrupted = False
        try:
            for index, task in enumerate(tasks):
                self.add(index, executor.submit(_restart, *task))
            self.collect(None if time_limit is None else time_limit + GRACE, for_first=COMPILING)
        except KeyboardInterrupt:
            interrupted = True
            stop.set()
            self.cancel()
            self.recover()
            self.collect(GRACE)
        finally:
            stop.set()
            self.cancel()
        return interrupted

    def notes(self, restarts: int) -> list[str]:
        """How many of all came back, and what became of the others."""
        lost = [f"a restart was lost: {_text(error)}" for error in self.errors]
        return [f"{len(self.found)} of {restarts} restarts ended", *lost]

    def add(self, index: int, future: Future[Result | None]) -> None:
        """Wait for one more."""
        self._waiting[index] = future
        future.add_done_callback(lambda _: self._ended.put(index))

    def collect(self, patience: float | None, for_first: float = 0.0) -> None:
        """Take what comes within `patience` seconds (None: whenever), until one decides for all or none is left.

        As long as there is no answer, they are `for_first` more; one that comes so late leaves others `GRACE`.
        """
        until = math.inf if patience is None else time.monotonic() + patience
        while self._waiting and not self._decided:
            answered = bool(self.found)
            left = until + (0.0 if answered else for_first) - time.monotonic()
            try:
                self._take(self._ended.get(timeout=min(max(left, 0.0), threading.TIMEOUT_MAX)))
            except queue.Empty:
                self.errors.append(LateError("a restart did not end in time"))
                return
            if self.found and not answered:
                until = max(until, time.monotonic() + GRACE)

    def cancel(self) -> None:
        """Forget those that have not begun."""
        for index, future in list(self._waiting.items()):
            if not future.done() and future.cancel():
                del self._waiting[index]

    def recover(self) -> None:
        """Take those that had ended when an interrupt came between."""
        for index, future in list(self._waiting.items()):
            if future.done():
                self._take(index)

    def _take(self, index: int) -> None:
        """Keep what a restart has ended with: a result, None if it was too late, or an error of it or its worker."""
        future = self._waiting.get(index)
        if future is None:
            return
        error = CancelledError("it was cancelled") if future.cancelled() else future.exception()
        if error is not None:
            self.errors.append(error)
            self._decided |= isinstance(error, DabpError)
        elif (result := future.result()) is not None:
            self.found[index] = result
            self._decided |= result.status in PROOFS
        del self._waiting[index]


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
    """One restart, in a worker; None if its time was up before it began, or a signal has ended the call.

    The first is begun however late (workers take seconds to start), so that there is an answer.
    """
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
    proved = [result for result in found.values() if result.status in PROOFS]
    bounds = [sign * result.bound for result in found.values() if result.bound is not None]
    index = min(found, key=lambda i: (_rank(found[i], sign), i))
    best = proved[0] if proved else found[index]
    bound = sign * max(bounds) if bounds else None
    if not proved and best.cost is not None and bound == best.cost:
        return dataclasses.replace(best, bound=bound, status=Status.OPTIMAL)
    return dataclasses.replace(best, bound=bound)


def _rank(result: Result, sign: float) -> float:
    return math.inf if result.cost is None else sign * result.cost
