"""Preparations at a million variables: CPU seconds and memory of each, one after the other in one process."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.scale.problems import KINDS
from benchmarks.scale.records import peak_gigabytes
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget


def measurements() -> Iterator[dict[str, Any]]:
    """Grids with shared tables, Potts grids and random graphs."""
    for kind in ("grid", "potts", "degree 6"):
        yield {"kind": kind, "variables": 10**6}


class Stages:
    """Times and peaks of memory by name."""

    def __init__(self) -> None:
        self.rows: dict[str, dict[str, float]] = {}

    def __call__(self, name: str, work: Callable[[], Any]) -> Any:
        """Do the work, and note what it took."""
        wall, cpu, system = time.perf_counter(), time.process_time(), os.times().system
        made = work()
        self.rows[name] = {
            "wall": round(time.perf_counter() - wall, 3),
            "cpu": round(time.process_time() - cpu, 3),
            "system": round(os.times().system - system, 2),
            "gigabytes": round(peak_gigabytes(), 2),
        }
        return made


def measured(kind: str, variables: int) -> dict[str, Any]:
    """Every stage from the columns on, kernels loaded on a small problem before."""
    _all_stages(Stages(), KINDS[kind](900))
    columns, made = Stages(), Stages()
    problem = columns("making costs and columns", lambda: KINDS[kind](variables))
    before = peak_gigabytes()
    _all_stages(made, problem)
    cpu, system = (sum(made.rows[name][kind] for name in NEEDED) for kind in ("cpu", "system"))
    sums = {"sum": round(cpu, 2), "system": round(system, 2)}
    return {"before": round(before, 2), "fresh": _fresh_gigabyte(), "stages": made.rows, **sums}


def _fresh_gigabyte() -> float:
    """CPU seconds of touching a gigabyte of memory for the first time: machines differ much in it."""
    start = time.process_time()
    np.empty(2**27).fill(0.0)
    return round(time.process_time() - start, 2)


NEEDED = ("Problem", "presolve", "FactorGraph", "layout", "annealing", "auto")
"""What the limit of 3 s is about."""


def _all_stages(stage: Stages, given: Problem) -> None:
    from dabp.graph import FactorGraph
    from dabp.presolve import presolve
    from dabp.solvers.belief_propagation.engine import MinSum

    problem = stage(
        "Problem",
        lambda: Problem(
            given.domain_sizes,
            given.scope_variables,
            given.scope_offsets,
            given.pool,
            given.pool_offsets,
            given.factor_table,
        ),
    )
    stage("cost", lambda: problem.cost(np.zeros(problem.num_variables, dtype=np.int64)))
    reduced = stage("presolve", lambda: presolve(problem)).problem
    graph = [stage("FactorGraph", lambda: FactorGraph.from_problem(reduced))]
    stage("layout", lambda: MinSum(reduced, graph.pop()).reset(0.2))
    for name in ("annealing", "tabu", "dual"):
        search = stage(name, lambda name=name: _first_step(reduced, name, Budget(time_limit=60.0)))
        search.close()
    search = stage("auto", lambda: make_solver("auto", {"prove": False}).start(reduced, seed=0, budget=_ended()))
    search.close()


def _ended() -> Budget:
    """Time in which members do not come to run: what `auto` does before them is all that is timed."""
    return Budget(time_limit=20.0, threads=0)


def _first_step(problem: Problem, name: str, budget: Budget) -> Any:
    search = make_solver(name).start(problem, seed=0, budget=budget)
    while not len(search.step().costs):
        pass
    return search
