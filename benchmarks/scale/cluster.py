"""Two workers against one at equal time, on large problems; and what is left when one of two is killed half-way."""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import dabp
from benchmarks.large_problems import KINDS
from dabp.problem import Problem

SECONDS = 8.0
INSTANCES = [(kind, seed) for kind, count in (("regular", 4), ("scale-free", 3), ("grid", 3)) for seed in range(count)]


def measurements() -> Iterator[dict[str, Any]]:
    """Ten instances, then a death on one of each kind."""
    for kind, seed in INSTANCES:
        yield {"kind": kind, "seed": 300 + seed, "what": "two against one"}
    for kind in KINDS:
        yield {"kind": kind, "seed": 300, "what": "killed"}


def measured(kind: str, seed: int, what: str) -> dict[str, Any]:
    """Costs for each constraint."""
    problem = KINDS[kind](seed)
    if what == "killed":
        return _killed(problem)
    row: dict[str, Any] = {"seconds": SECONDS}
    for workers in (1, 2):
        result, wall = _solved(problem, workers, SECONDS)
        row[f"cost_{workers}"], row[f"wall_{workers}"] = result.cost, round(wall, 2)
        row[f"per_constraint_{workers}"] = round(float(result.cost or 0) / problem.facts.num_constraints, 5)
        row[f"bound_{workers}"] = result.bound
    return row


def _pool(workers: int) -> ProcessPoolExecutor:
    """Processes that have loaded their kernels."""
    pool = ProcessPoolExecutor(workers, mp_context=multiprocessing.get_context("spawn"))
    for future in [pool.submit(_warm) for _ in range(workers)]:
        future.result()
    return pool


def _warm() -> int:
    dabp.solve(KINDS["scale-free"](1), time_limit=2.0, params={"prove": False})
    time.sleep(0.5)  # so that each process of the pool takes one
    return os.getpid()


def _solved(problem: Problem, workers: int, seconds: float) -> tuple[dabp.Result, float]:
    with _pool(workers) as pool:
        started = time.perf_counter()
        result = dabp.solve_together(problem, executor=pool, workers=workers, time_limit=seconds)
        return result, time.perf_counter() - started


def _killed(problem: Problem) -> dict[str, Any]:
    """One of two processes is killed half-way: what was known then, and what is the answer."""
    known: list[float] = []
    victims: list[int] = []

    def watch(progress: Any) -> None:
        if progress.time > SECONDS / 2 and not victims:
            known.append(progress.cost)
            victims.append(next(iter(pool._processes)))
            os.kill(victims[0], signal.SIGKILL)

    with _pool(2) as pool:
        result = dabp.solve_together(problem, executor=pool, workers=2, time_limit=SECONDS, callbacks=[watch])
    return {
        "seconds": SECONDS,
        "known": known[0],
        "cost": result.cost,
        "lost": [note for note in result.notes if "lost" in note],
    }
