"""How much faster two threads are than one beyond the caches: a hundred thousand variables, DABP five thousand."""

from __future__ import annotations

import multiprocessing
import statistics
import time
from collections.abc import Iterator
from typing import Any

from benchmarks.scale.problems import KINDS
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget, Search

SOLVERS = ("bp", "bp-reinforced", "dual", "annealing", "dabp")
SECONDS, ROUNDS = 1.0, 3
VARIABLES, DABP_VARIABLES = 10**5, 5_000
"""DABP keeps a gigabyte for a window of five thousand; one of a hundred thousand would take it minutes."""


def measurements() -> Iterator[dict[str, Any]]:
    """Every solver on a random graph of degree 6 and on a grid."""
    for kind in ("degree 6", "grid"):
        for solver in SOLVERS:
            yield {"kind": kind, "solver": solver, "variables": DABP_VARIABLES if solver == "dabp" else VARIABLES}


def measured(kind: str, solver: str, variables: int) -> dict[str, Any]:
    """Milliseconds an iteration with one and two threads, in turns, the least of each; their ratio, and the machine's.

    DABP's iterations differ, as those that are learned from decide how deep its backward pass goes: both make the same
    ones in each round, and the round with the middle ratio counts. The machine's own is how much more two processes of
    one thread do than one does alone.
    """
    problem = KINDS[kind](variables)
    alone, shared = (_started(problem, solver, count) for count in (1, 2))
    rounds = []
    for seconds in (0.5, *[SECONDS] * ROUNDS):
        one, iterations = _run(alone, seconds)
        two, _ = _run(shared, seconds if solver != "dabp" else 0.0, iterations if solver == "dabp" else 1)
        rounds.append((one, two))
    alone.close()
    shared.close()
    if solver == "dabp":
        one, two = sorted(rounds[1:], key=lambda pair: pair[0] / pair[1])[ROUNDS // 2]
    else:
        one, two = (min(times) for times in zip(*rounds[1:], strict=True))
    return {
        "one": round(1e3 * one, 3),
        "two": round(1e3 * two, 3),
        "speed_up": round(one / two, 2),
        "machine": round(2 * min(rounds[1:])[0] / _both_at_once(kind, solver, variables), 2),
    }


def _started(problem: Problem, solver: str, threads: int) -> Search:
    params: dict[str, Any] = {"reinforcement": 1e-5} if solver == "bp-reinforced" else {}
    if solver == "bp":
        params = {"tolerance": 0.0, "max_iterations_per_restart": 10**9}
    return make_solver(solver, params).start(problem, seed=0, budget=Budget(threads=threads))


def _both_at_once(kind: str, solver: str, variables: int) -> float:
    """Seconds an iteration of two processes that do the same at the same time, the least of the rounds."""
    context = multiprocessing.get_context("spawn")
    meeting = context.Barrier(2)
    with context.Pool(2, _meet, (meeting,)) as pool:
        rounds = pool.starmap(_alone, 2 * [(kind, solver, variables)], chunksize=1)
    return min(statistics.mean(times) for times in zip(*rounds, strict=True))


def _meet(meeting: Any) -> None:
    """Give a process the barrier that both wait at."""
    global _meeting
    _meeting = meeting


_meeting: Any = None


def _alone(kind: str, solver: str, variables: int) -> list[float]:
    search = _started(KINDS[kind](variables), solver, 1)
    _run(search, 0.5)
    times = []
    for _ in range(ROUNDS):
        _meeting.wait()
        times.append(_run(search, SECONDS)[0])
    search.close()
    return times


def _run(search: Search, seconds: float, least: int = 1) -> tuple[float, int]:
    """Seconds an iteration, and how many: steps for about so long and for at least so many.

    DABP to the end of a window, so that an update is in it.
    """
    start, iterations = time.perf_counter(), 0
    while time.perf_counter() - start < seconds or not search.at_boundary or iterations < least:
        iterations += len(search.step().costs)
    return (time.perf_counter() - start) / iterations, iterations
