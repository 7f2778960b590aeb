"""One solve by several workers that share what they find: on a process pool, or on a Dask cluster.

Each worker runs `dabp.solve` on the whole problem with a seed and, of `auto`, members of its own, and writes its best
assignment and bound on a board (`dabp.cluster.board`), where the others and the host read them. When a worker dies,
only what it had not written is lost.
"""

from __future__ import annotations

import concurrent.futures
import dataclasses
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from multiprocessing import get_context
from typing import Any, Unpack

from dabp.cluster.board import Board, DaskBoard, FolderBoard, Place
from dabp.cluster.restarts import COMPILING_SECONDS, GRACE_SECONDS, WorkerOptions, restart_seeds
from dabp.driver.arguments import as_callbacks, as_count_to, as_seed, checked_problem, chosen_solver
from dabp.driver.claims import ending
from dabp.driver.interruption import Interruption
from dabp.driver.peers import Known
from dabp.driver.result import Result
from dabp.driver.running import RunningSolve
from dabp.driver.solve import Callback, solve_among
from dabp.driver.stopping import DEFAULT_SECONDS, Ended, Limits
from dabp.errors import DabpError, ParameterError, SolverError, refuse_unknown
from dabp.problem import Problem
from dabp.problem.guard import TIME
from dabp.problem.model import Model
from dabp.solvers.auto import Auto
from dabp.solvers.base import Solver
from dabp.solvers.clock import Clock
from dabp.solvers.status import Status


def solve_together(
    problem: Problem | Model,
    solver: str | Solver = "auto",
    *,
    executor: Any,
    workers: int,
    time_limit: float = DEFAULT_SECONDS,
    seed: int = 0,
    callbacks: Iterable[Callback] = (),
    **options: Unpack[WorkerOptions],
) -> Result:
    """Solve on several workers that share incumbents and bounds; returns the best of all.

    A proof by one worker ends all. When a worker dies, what it had written is kept: a Dask cluster gives its share to
    another worker, a process pool that Python closes is replaced for the time that is left. Ctrl-C ends all with the
    best that is known.

    Parameters
    ----------
    problem, solver, options
        As for `dabp.solve`; see `WorkerOptions`. Of `auto`, each worker runs its own share of the members.
    executor
        A `concurrent.futures.Executor` whose workers are processes on this machine, a `distributed.Client`, or its
        ``get_executor()``.
    workers
        Number of shares, at most 10,000. As many workers should be free; a share that waits gets the time left.
    time_limit
        Seconds for all of them, from this call. A worker whose clock differs from this machine's may begin with more
        or less; it ends with the others.
    seed
        Decides the workers' seeds. What they exchange depends on the clock, and so does the result.
    callbacks
        Called here with a `Progress` about five times a second; a true answer ends the solve for all.
    """
    clock, problem = Clock(), checked_problem(problem)
    refuse_unknown("solve_together", options, WorkerOptions.__annotations__)
    workers = as_count_to(10_000, "workers", workers)
    chosen, name = chosen_solver(solver, options.get("params"))
    limits = Limits(time_limit, target=options.get("target"))
    if limits.seconds is None:
        raise ParameterError("workers need a time limit")
    with Interruption() as interruption:
        run = RunningSolve(problem, name, as_seed(seed), clock)
        crew, board = _crew(executor)
        try:
            own_options, now = {**options, "params": None}, time.time()
            tasks = [
                Task(_share(chosen, k, workers), own, now, time_limit, own_options, board.place(k))
                for k, own in enumerate(restart_seeds(seed, workers))
            ]
            together = _Together(run, board, limits, as_callbacks(callbacks), lambda: interruption.requested)
            return together.result(crew, tasks)
        finally:
            board.close()
            crew.close()


def _share(solver: Solver, worker: int, workers: int) -> Solver:
    """The part of `auto` that a worker runs; of any other solver each worker runs the same with another seed."""
    if isinstance(solver, Auto) and workers > 1 and solver.share is None:
        # The first share has the strongest member; toulbar2, which takes a core of its own, is in the last.
        return dataclasses.replace(
            solver, share=f"{worker + 1}/{workers}", prove=solver.prove and worker == workers - 1
        )
    return solver


@dataclasses.dataclass(frozen=True)
class Task:
    """The share of one worker, sent to it with the problem."""

    solver: Solver
    seed: int
    sent: float
    """The host's clock when the task was made, in seconds."""
    seconds: float
    """The time limit of all, from `sent` on."""
    options: Mapping[str, Any]
    place: Place

    def __call__(self, problem: Problem) -> Result:
        """Solve in the time that is left."""
        options = {"threads": 1, **self.options, "seed": self.seed, "time_limit": self.left}
        result = solve_among(self.place, problem, self.solver, options)
        # The problem and the trace stay here: they are large, and the host has its own.
        return dataclasses.replace(result, problem=None, values=None, trace=type(result.trace)())

    @property
    def left(self) -> float:
        """Seconds from now on.

        If no time is left, or the task comes from the future, the clocks of host and worker may differ: unless the
        host has ended the solve, the worker gets the whole time, and the host ends it.
        """
        waited = time.time() - self.sent
        if 0.0 <= waited < self.seconds:
            return self.seconds - waited
        return 0.0 if self.place.over() else self.seconds


class _Together:
    """The host's side of one solve."""

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
        self._seconds = limits.seconds or 0.0
        self._infeasible = False
        self._limit: str | None = None  # of the workers that ended by a limit, the last one's
        self._lost: list[str] = []

    def result(self, crew: _Crew, tasks: list[Task]) -> Result:
        """Start the tasks, read the board until all have ended or time is up, and take the best."""
        run = self._run
        waiting = crew.submit(run.problem, tasks)
        reason = None
        while waiting:
            done, _ = concurrent.futures.wait(waiting, 0.2, concurrent.futures.FIRST_COMPLETED)
            self._read_board()
            broken = [future for future in done if not self._take(waiting[future], future)]
            again = [waiting[future] for future in broken if isinstance(future.exception(), BrokenProcessPool)]
            waiting = {future: task for future, task in waiting.items() if future not in done}
            if again and reason is None and run.clock.now < self._seconds:
                crew.replace_pool()
                waiting |= crew.submit(run.problem, again)
            if reason is None and (reason := self._reason()) is not None:
                self._board.end()
                patience = time.monotonic() + GRACE_SECONDS
            if reason is not None and time.monotonic() > patience and (run.progress.cost is not None or not waiting):
                break
            if run.clock.now > self._seconds + GRACE_SECONDS + COMPILING_SECONDS:
                break
        for future in waiting:
            future.cancel()
        self._read_board()
        if waiting:
            self._lost.append(f"{len(waiting)} of {len(tasks)} workers did not end in time")
        return self._result(reason, len(tasks))

    def _reason(self) -> str | None:
        run = self._run
        run.progress.time = run.clock.now
        run.progress.time_left = self._seconds - run.clock.now
        answers = [callback(run.shown()) for callback in self._callbacks]
        run.progress.improved = False
        if self._interrupted() or any(answers):
            return "interrupted"
        if self._infeasible or (run.progress.cost is not None and run.progress.cost == run.progress.bound):
            return "proof"
        if run.progress.time_left <= 0:
            return TIME
        return self._limits.reached(run.progress, maximize=run.problem.maximize)

    def _read_board(self) -> None:
        """Keep what workers have written, and publish it if it is new."""
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

    def _take(self, task: Task, future: Future[Result]) -> bool:
        """Keep a worker's result, True, or why it was lost, False; mistakes of the caller are raised as they are."""
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

    def _result(self, reason: str | None, workers: int) -> Result:
        run = self._run
        if run.progress.cost is None and len(self._lost) >= workers:
            raise SolverError(f"no worker came back: {self._lost[-1]}")
        run.notes += self._lost
        if (status := Status.INFEASIBLE if self._infeasible else ending(None, run)) is not None:
            return run.result(Ended(status))
        if reason == "interrupted":
            return run.result(Ended(Status.INTERRUPTED))
        limit = reason or self._limit
        return run.result(Ended(Status.CONVERGED) if limit is None else Ended(Status.LIMIT, limit))


class _Crew:
    """The executor that runs the tasks; of a Dask client the problem is sent to all workers at once."""

    def __init__(self, executor: Executor, client: Any = None):
        self._executor, self._client = executor, client
        self._own: Executor | None = None

    def submit(self, problem: Problem, tasks: list[Task]) -> dict[Future[Result], Task]:
        """Start tasks; a pool of which a process died before counts as one that dies later."""
        sent = problem if self._client is None else self._client.scatter(problem, broadcast=True, hash=False)
        submitted: dict[Future[Result], Task] = {}
        for task in tasks:
            try:
                submitted[self._executor.submit(_on_worker, task, sent)] = task
            except BrokenProcessPool as broken:
                future: Future[Result] = Future()
                future.set_exception(broken)
                submitted[future] = task
            except RuntimeError as error:
                raise ParameterError(f"executor takes no work: {error}") from None
        return submitted

    def replace_pool(self) -> None:
        """Continue with a new pool of the broken one's size."""
        self.close()
        size = getattr(self._executor, "_max_workers", None)
        # Spawned: the process that calls this has threads, which a fork would break.
        self._own = self._executor = ProcessPoolExecutor(size, mp_context=get_context("spawn"))

    def close(self) -> None:
        """End a pool that was started here."""
        if self._own is not None:
            self._own.shutdown(wait=False, cancel_futures=True)


def _on_worker(task: Task, problem: Problem) -> Result:
    return task(problem)


def _crew(executor: Any) -> tuple[_Crew, Board]:
    client = executor if hasattr(executor, "scatter") else getattr(executor, "_client", None)
    if client is not None and hasattr(client, "get_executor"):
        return _Crew(client.get_executor(pure=False), client), DaskBoard(client)
    if not isinstance(executor, Executor):
        raise ParameterError(
            f"executor is a concurrent.futures.Executor or a distributed.Client, not {type(executor).__name__}"
        )
    return _Crew(executor), FolderBoard()
