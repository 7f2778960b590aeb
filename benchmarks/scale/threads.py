"""How much faster two threads are than one, at a hundred thousand variables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

from benchmarks.scale.problems import KINDS
from dabp.solvers import make_solver
from dabp.solvers.base import Budget, Search

SOLVERS = ("bp", "dbp-scfg", "bp-reinforced", "dual", "annealing", "dabp")
SECONDS, ROUNDS = 2.0, 3


def measurements() -> Iterator[dict[str, Any]]:
    """Every solver on a random graph of degree 6 and on a grid."""
    for kind in ("degree 6", "grid"):
        for solver in SOLVERS:
            yield {"kind": kind, "solver": solver, "variables": 10**5}


def measured(kind: str, solver: str, variables: int) -> dict[str, Any]:
    """Milliseconds an iteration with one and two threads, in turns, the least of each; and their ratio."""
    problem = KINDS[kind](variables)
    params = {"reinforcement": 1e-5} if solver == "bp-reinforced" else {}
    if solver in ("bp", "dbp-scfg"):
        params = {"tolerance": 0.0, "max_iterations_per_restart": 10**9}
    best: dict[int, float] = {}
    searches = {
        count: make_solver(solver, params).start(problem, seed=0, budget=Budget(threads=count)) for count in (1, 2)
    }
    for search in searches.values():
        _run(search, 0.5)
    for _ in range(ROUNDS):
        for count, search in searches.items():
            best[count] = min(best.get(count, float("inf")), _run(search, SECONDS))
    for search in searches.values():
        search.close()
    return {
        "one": round(1e3 * best[1], 3),
        "two": round(1e3 * best[2], 3),
        "speed_up": round(best[1] / best[2], 2),
    }


def _run(search: Search, seconds: float) -> float:
    """Seconds an iteration: steps for about so long; DABP to the end of a window, so that an update is in it."""
    start, iterations = time.perf_counter(), 0
    while time.perf_counter() - start < seconds or not search.at_boundary or not iterations:
        iterations += len(search.step().costs)
    return (time.perf_counter() - start) / iterations
