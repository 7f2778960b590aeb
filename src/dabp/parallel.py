"""Independent restarts of one problem, spread over an executor: a process pool, or a Dask cluster's.

Anything with the interface of `concurrent.futures.Executor` will do; ``distributed.Client(…).get_executor()`` is one.
"""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Mapping
from concurrent.futures import Executor, Future, as_completed
from concurrent.futures import TimeoutError as LateError
from typing import Any

import numpy as np

from dabp.errors import DabpError, ParameterError, SolverError
from dabp.problem import Problem
from dabp.result import Result, Status
from dabp.solvers.base import Solver

GRACE = 10.0
"""Seconds after the time limit that answers under way are waited for."""


def solve_restarts(
    problem: Problem,
    solver: str | Solver,
    *,
    restarts: int,
    executor: Executor,
    seed: int = 0,
    time_limit: float | None = None,
    params: Mapping[str, Any] | None = None,
    **options: Any,
) -> Result:
    """Solve `restarts` times with seeds of their own, and give the best answer and the best bound.

    The seeds depend on `seed` and the number of the restart only, so that the answer does not depend on how many
    workers there are (limits by time aside). A proof ends the rest. A restart that is lost with its worker is noted
    and left out; if all are lost, the last one's error is raised.

    Parameters
    ----------
    problem, solver, params, options
        As for `dabp.solve`.
    restarts
        How many.
    executor
        Who runs them.
    seed
        Decides the restarts' seeds.
    time_limit
        Seconds for all of them together: one that starts later gets what is left, one that comes too late is
        skipped. On several machines this needs clocks that agree.
    """
    if restarts < 1:
        raise ParameterError(f"restarts is at least 1, not {restarts}")
    started = time.perf_counter()
    deadline = None if time_limit is None else time.time() + time_limit
    seeds = restart_seeds(seed, restarts)
    futures: dict[Future[Result | None], int] = {
        executor.submit(_restart, problem, solver, params, own, deadline, options): index
        for index, own in enumerate(seeds)
    }
    found: dict[int, Result] = {}
    errors: list[Exception] = []
    interrupted = False
    try:
        for future in as_completed(futures, None if time_limit is None else time_limit + GRACE):
            try:
                result = future.result()
            except DabpError:
                raise
            except Exception as error:  # the worker is gone; the other restarts are not
                errors.append(error)
                continue
            if result is not None:
                found[futures[future]] = result
                if result.status in (Status.OPTIMAL, Status.INFEASIBLE):
                    break
    except LateError:
        errors.append(LateError("a restart did not end in time"))
    except KeyboardInterrupt:
        interrupted = True
    finally:
        for future in futures:
            future.cancel()
    if not found and not interrupted:
        raise SolverError(f"no restart came back: {errors[-1] if errors else 'all were too late'}")
    best = _best(found, problem.maximize, seed)
    notes = [f"{len(found)} of {restarts} restarts ended", *(f"a restart was lost: {error}" for error in errors)]
    return dataclasses.replace(
        best,
        status=Status.INTERRUPTED if interrupted else best.status,
        iterations=sum(result.iterations for result in found.values()),
        runtime=time.perf_counter() - started,
        seed=seed,
        notes=(*best.notes, *notes),
    )


def restart_seeds(seed: int, restarts: int) -> list[int]:
    """A seed per restart; the first is `seed` itself, so that one restart is a plain solve."""
    drawn = np.random.SeedSequence(seed).generate_state(restarts, np.uint32).tolist()
    return [seed, *drawn[1:]]


def _restart(
    problem: Problem,
    solver: str | Solver,
    params: Mapping[str, Any] | None,
    seed: int,
    deadline: float | None,
    options: Mapping[str, Any],
) -> Result | None:
    """One restart, in a worker; None if its time was up before it began."""
    from dabp.solving import solve

    left = None if deadline is None else deadline - time.time()
    if left is not None and left <= 0:
        return None
    return solve(problem, solver, params=params, seed=seed, time_limit=left, **options)


def _best(found: Mapping[int, Result], maximize: bool, seed: int) -> Result:
    """The best answer (the earliest restart's among equals) with the tightest bound of all."""
    if not found:
        return Result(None, None, Status.INTERRUPTED, None, 0, 0.0, seed, "")
    sign = -1.0 if maximize else 1.0
    proved = [result for result in found.values() if result.status in (Status.OPTIMAL, Status.INFEASIBLE)]
    bounds = [sign * result.bound for result in found.values() if result.bound is not None]
    index = min(found, key=lambda i: (_rank(found[i], sign), i))
    best = proved[0] if proved else found[index]
    bound = sign * max(bounds) if bounds else None
    if not proved and best.cost is not None and bound == best.cost:
        return dataclasses.replace(best, bound=bound, status=Status.OPTIMAL)
    return dataclasses.replace(best, bound=bound)


def _rank(result: Result, sign: float) -> float:
    return math.inf if result.cost is None else sign * result.cost
