"""One solve by several workers that share what they find: on a process pool, or on a Dask cluster.

Each worker runs `dabp.solve` on the whole problem with a seed and, of `auto`, members of its own, and writes its best
assignment and bound on a board (`dabp.cluster.board`), where the others and the caller see them. A worker that dies
takes nothing with it but what it was in the midst of.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, TypedDict, Unpack

from numpy.typing import ArrayLike

from dabp.cluster.board import Board, DaskBoard, FolderBoard, Place
from dabp.cluster.restarts import COMPILING, GRACE, restart_seeds
from dabp.driver.arguments import as_callbacks, as_count, as_seed, check_solver, checked_problem
from dabp.driver.interruption import Interruption
from dabp.driver.peers import Known
from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.driver.solve import Callback, solve_among
from dabp.driver.stopping import DEFAULT_SECONDS, Ended, Limits
from dabp.errors import DabpError, ParameterError, SolverError, suggestion
from dabp.problem import Problem
from dabp.problem.guard import TIME
from dabp.problem.model import Model
from dabp.problem.views import Label
from dabp.solvers import make_solver
from dabp.solvers.auto import Auto
from dabp.solvers.base import Solver
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status

LISTEN = 0.2
"""Seconds between the host's looks at the board."""


class Options(TypedDict, total=False):
    """What else each worker's solve may be given, as for `dabp.solve`."""

    params: Mapping[str, Any] | None
    target: float | None
    memory_limit: int | str | None
    threads: int
    initial: Mapping[str, Label] | ArrayLike | Result | None
    fix: Mapping[str, Label] | None
    presolve: bool | None


def solve_together(
    problem: Problem | Model,
    solver: str | Solver = "auto",
    *,
    executor: Any,
    workers: int,
    time_limit: float = DEFAULT_SECONDS,
    seed: int = 0,
    callbacks: Iterable[Callback] = (),
    **options: Unpack[Options],
) -> Result:
    """Solve on several workers that share incumbents and bounds; the best of all they knew.

    A proof by one ends all. A worker that dies costs what it was in the midst of: what it had told is kept. A Dask
    cluster gives its share to another worker; a process pool that Python closes when one of its processes dies is
    replaced for the time that is left. Ctrl-C ends all with the best that is known.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`; see `Options`. Of `auto`, each worker runs its own share of the members.
    executor
        A `concurrent.futures.Executor` whose workers are processes on this machine, a `distributed.Client`, or its
        ``get_executor()``.
    workers
        How many share the work; as many should be free, for those that wait for others get what time is left.
    time_limit
        Seconds for all of them, from this call. A worker whose clock differs from this machine's may begin with more
        or less; it ends with the others.
    seed
        Decides the workers' seeds. What they tell each other depends on the clock, and so does the result.
    callbacks
        Called here with a `Progress` about five times a second; a true answer ends the solve for all.
    """
    clock, problem = Clock(), checked_problem(problem)
    name = _check(solver, workers, time_limit, options)
    with Interruption() as interruption:
        run = RunningSolve(problem, name, as_seed(seed), clock)
        crew, board = _crew(executor)
        try:
            shares = [_share(solver, options.get("params"), k, workers) for k in range(workers)]
            limits = Limits(time_limit, target=options.get("target"))
            tasks = [
                _Task(share, own, time.time(), time_limit, {**options, "params": None}, board.place(k))
                for k, (share, own) in enumerate(zip(shares, restart_seeds(seed, workers), strict=True))
            ]
            together = _Together(run, board, limits, tuple(as_callbacks(callbacks)), lambda: interruption.requested)
            return together.result(crew, tasks)
        finally:
            board.close()
            crew.close()


def _check(solver: str | Solver, workers: int, time_limit: float, options: Mapping[str, Any]) -> str:
    """Refuse at once what every worker would refuse; the solver's name."""
    if as_count("workers", workers, 1) is None:
        raise ParameterError("workers is a whole number of at least 1, not None")
    if Limits(time=time_limit).seconds is None:
        raise ParameterError("workers need a time limit")
    for name in options:
        if name not in Options.__annotations__:
            raise ParameterError(f"workers take no {name!r}{suggestion(name, Options.__annotations__)}")
    check_solver(solver, options.get("params"))
    if not isinstance(solver, str):
        if options.get("params"):
            raise ParameterError("params go with a solver's name; a Solver object has its own")
        return type(solver).__name__
    return solver


def _share(solver: str | Solver, params: Mapping[str, Any] | None, worker: int, workers: int) -> Solver:
    """What one of the workers runs: of the portfolio its part, of any other solver the same with another seed."""
    chosen = make_solver(solver, params) if isinstance(solver, str) else solver
    if isinstance(chosen, Auto) and workers > 1 and chosen.share is None:
        # The first has the strongest member; toulbar2, which takes a core of its own, goes with the others.
        return dataclasses.replace(
            chosen, share=f"{worker + 1}/{workers}", prove=chosen.prove and worker == workers - 1
        )
    return chosen


@dataclasses.dataclass(frozen=True)
class _Task:
    """What a worker is to do, sent to it with the problem."""

    solver: Solver
    seed: int
    sent: float
    """When, by the host's clock."""
    seconds: float
    """What all have from then on."""
    options: Mapping[str, Any]
    place: Place

    def __call__(self, problem: Problem) -> Result:
        """Solve in the time that is left, and tell the last that was found."""
        options = {"threads": 1, **self.options, "seed": self.seed, "time_limit": self.left}
        result = solve_among(self.place, problem, self.solver, options)
        # The problem and the trace stay here: they are large, and the host has its own.
        return dataclasses.replace(result, problem=None, values=None, trace=type(result.trace)())

    @property
    def left(self) -> float:
        """Seconds from now on.

        Where clocks say that none are left, or that it was sent in the future, the host is asked: if it has not ended
        the solve, this machine's clock is another, and the host will say when it is over.
        """
        waited = time.time() - self.sent
        if 0.0 <= waited < self.seconds:
            return self.seconds - waited
        return 0.0 if self.place.over() else self.seconds


class _Together:
    """One solve by several workers, seen from the host."""

    def __init__(
        self,
        run: RunningSolve,
        board: Board,
        limits: Limits,
        callbacks: tuple[Callback, ...],
        interrupted: Callable[[], bool],
    ):
        self._run, self._board, self._limits = run, board, limits
        self._callbacks, self._interrupted = callbacks, interrupted
        self._infeasible = False
        self._limit: str | None = None  # what ended the workers, if they told
        self._lost: list[str] = []

    def result(self, crew: _Crew, tasks: list[_Task]) -> Result:
        """Hand the tasks out, listen until all have ended or time is up, and take the best."""
        run = self._run
        waiting = crew.submit(run.problem, tasks)
        reason = None
        while waiting:
            done, _ = concurrent.futures.wait(waiting, LISTEN, concurrent.futures.FIRST_COMPLETED)
            self._listen()
            broken = [future for future in done if not self._take(waiting[future], future)]
            again = [waiting[future] for future in broken if isinstance(future.exception(), BrokenProcessPool)]
            waiting = {future: task for future, task in waiting.items() if future not in done}
            if again and reason is None and run.clock.now < (self._limits.seconds or 0.0):
                waiting |= crew.replaced().submit(run.problem, again)
            if reason is None and (reason := self._reason()) is not None:
                self._board.end()
                patience = time.monotonic() + GRACE
            if reason is not None and time.monotonic() > patience and (run.progress.cost is not None or not waiting):
                break
            if run.clock.now > (self._limits.seconds or 0.0) + GRACE + COMPILING:
                break
        for future in waiting:
            future.cancel()
        self._listen()
        if waiting:
            self._lost.append(f"{len(waiting)} of {len(tasks)} workers did not end in time")
        return self._told(reason, len(tasks))

    def _reason(self) -> str | None:
        """Why all should end now, if they should."""
        run = self._run
        run.progress.time = run.clock.now
        run.progress.time_left = (self._limits.seconds or 0.0) - run.clock.now
        answers = [callback(run.shown()) for callback in self._callbacks]
        run.progress.improved = False
        if self._interrupted() or any(answers):
            return "interrupted"
        if self._infeasible or (run.progress.cost is not None and run.progress.cost == run.progress.bound):
            return "proof"
        if run.progress.time_left <= 0:
            return TIME
        return self._limits.reached(run.progress, maximize=run.problem.maximize)

    def _listen(self) -> None:
        """Take what workers have told, and let all know if it is new."""
        before = (self._run.progress.cost, self._run.progress.bound)
        for known in self._board.gather():
            self._keep(known)
        progress = self._run.progress
        if (progress.cost, progress.bound) != before:
            self._board.publish(Known(progress.assignment, progress.bound))

    def _keep(self, known: Known) -> None:
        run = self._run
        if known.assignment is not None:
            assignment = run.problem.names.checked(known.assignment)
            run.offer(assignment, float(run.problem.cost(assignment)))
        if known.bound is not None:
            run.tighten(run.sign * known.bound)

    def _take(self, task: _Task, future: Future[Result]) -> bool:
        """A worker's end: what it gave, or why it was lost; mistakes of the caller are raised as they are."""
        error = concurrent.futures.CancelledError("cancelled") if future.cancelled() else future.exception()
        if isinstance(error, DabpError):
            self._board.end()
            raise error
        if error is not None:
            self._lost.append(f"worker {task.place.worker} was lost: {error or type(error).__name__}")
            return False
        result = future.result()
        self._run.progress.iterations += result.iterations
        self._infeasible |= result.status is Status.INFEASIBLE
        self._limit = result.limit or self._limit
        self._keep(Known(result.assignment, result.bound))
        self._run.notes += [f"worker {task.place.worker}: {note}" for note in result.notes]
        return True

    def _told(self, reason: str | None, workers: int) -> Result:
        run = self._run
        if run.progress.cost is None and len(self._lost) >= workers:
            raise SolverError(f"no worker came back: {self._lost[-1]}")
        run.notes += self._lost
        cost, bound = run.progress.cost, run.progress.bound
        if self._infeasible:
            return run.result(Ended(Status.INFEASIBLE))
        if cost is not None and cost == bound:
            return run.result(Ended(Status.OPTIMAL))
        if reason == "interrupted":
            return run.result(Ended(Status.INTERRUPTED))
        limit = reason or self._limit
        return run.result(Ended(Status.CONVERGED) if limit is None else Ended(Status.LIMIT, limit))


class _Crew:
    """Who runs the tasks."""

    def submit(self, problem: Problem, tasks: list[_Task]) -> dict[Future[Result], _Task]:
        """Hand tasks out."""
        raise NotImplementedError

    def replaced(self) -> _Crew:
        """The crew after its pool broke."""
        raise NotImplementedError

    def close(self) -> None:
        """End what was started here."""


class _Pool(_Crew):
    """An executor of processes (or threads) on this machine."""

    def __init__(self, executor: Executor):
        self._executor = executor
        self._own: Executor | None = None
        self._count = 0

    def submit(self, problem: Problem, tasks: list[_Task]) -> dict[Future[Result], _Task]:
        self._count, submitted = len(tasks), {}
        for task in tasks:
            try:
                submitted[self._executor.submit(task, problem)] = task
            except BrokenProcessPool as broken:  # a process of it died before: taken as one that dies later
                future: Future[Result] = Future()
                future.set_exception(broken)
                submitted[future] = task
            except RuntimeError as error:
                raise ParameterError(f"executor takes no work: {error}") from None
        return submitted

    def replaced(self) -> _Pool:
        self.close()
        # Spawned: the process that calls this has threads, which a fork would break.
        self._own = self._executor = ProcessPoolExecutor(self._count, mp_context=get_context("spawn"))
        return self

    def close(self) -> None:
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)


class _Cluster(_Crew):
    """A client of a Dask scheduler."""

    def __init__(self, client: Any):
        self._client = client
        self._executor = client.get_executor(pure=False)

    def submit(self, problem: Problem, tasks: list[_Task]) -> dict[Future[Result], _Task]:
        scattered = self._client.scatter(problem, broadcast=True, hash=False)
        return {self._executor.submit(_on_worker, task, scattered): task for task in tasks}


def _on_worker(task: _Task, problem: Problem) -> Result:
    return task(problem)


def _crew(executor: Any) -> tuple[_Crew, Board]:
    """Who runs the tasks, and where they tell what they know."""
    client = executor if hasattr(executor, "scatter") else getattr(executor, "_client", None)
    if client is not None and hasattr(client, "get_executor"):
        return _Cluster(client), DaskBoard(client)
    if not isinstance(executor, Executor):
        raise ParameterError(
            f"executor is a concurrent.futures.Executor or a distributed.Client, not {type(executor).__name__}"
        )
    return _Pool(executor), FolderBoard()
