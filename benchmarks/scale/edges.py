"""Time of an iteration of belief propagation for each edge, from a thousand to a million variables."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from benchmarks.scale.bandwidth import bytes_an_iteration, fetching_seconds, stream_bandwidth
from benchmarks.scale.problems import KINDS
from benchmarks.scale.records import peak_gigabytes
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import Rules
from dabp.solvers.belief_propagation.engine import MinSum
from dabp.solvers.belief_propagation.schedule import Phases
from dabp.solvers.belief_propagation.soft_engine import SoftMessages

SOFT = "soft"
"""Messages at a finite temperature: β = 1 in scaled units, no reinforcement."""
SIZES = (10**3, 10**4, 10**5, 10**6)
SOLVERS: dict[str, tuple[float | None, float, Rules]] = {
    "bp": (None, 0.0, Rules()),
    "dbp-scfg": (0.95, 0.9, Rules()),
    "bp-reinforced": (None, 0.2, Rules(rate=1e-7)),
    SOFT: (None, 0.2, Rules()),
}
"""Split ratio, damping and rules; a slow reinforcement, so that beliefs do not freeze while they are timed."""
ITERATIONS = 20
"""Timed from the start at every size: the first change more values than later ones, whose costs are looked up."""
SECONDS, ROUNDS = 1.0, 2
"""How long, and how many times at least."""


def measurements() -> Iterator[dict[str, Any]]:
    """Every kind, solver and size."""
    for kind in ("degree 6", "grid", "chain", "two values"):
        for solver in SOLVERS:
            for size in SIZES:
                yield {"kind": kind, "solver": solver, "variables": size}


def measured(kind: str, solver: str, variables: int) -> dict[str, Any]:
    """Nanoseconds of an edge in an iteration, the least of rounds of `ITERATIONS`; bytes, and the bandwidth.

    `fraction` is the part of the bandwidth, `limit` the part of the time that is left if messages are fetched and
    everything else moves as fast as each does by itself.
    """
    problem = KINDS[kind](variables)
    ratio, damping, rules = SOLVERS[solver]
    graph = FactorGraph.from_problem(problem, split_ratio=ratio, dtype=np.float32 if solver == SOFT else None)
    engine = SoftMessages(problem, graph) if solver == SOFT else MinSum(problem, graph)
    best, cpu, spent, rounds = np.inf, np.inf, 0.0, 0
    while spent < SECONDS or rounds <= ROUNDS:
        engine.reset(damping)
        start, used = time.perf_counter(), time.process_time()
        _iterate(engine, rules)
        seconds = time.perf_counter() - start
        if rounds > 0:  # the first loads the kernels
            best, cpu = min(best, seconds / ITERATIONS), min(cpu, (time.process_time() - used) / ITERATIONS)
        spent, rounds = spent + seconds, rounds + 1
    moved, edges = bytes_an_iteration(engine, rules.rate > 0), graph.num_edges  # weights are as large as tables
    fetching, heard = fetching_seconds(engine), engine.memory.v2f.nbytes
    bandwidth = stream_bandwidth()
    return {
        "edges": edges,
        "ns": round(1e9 * best / edges, 3),
        "cpu_ns": round(1e9 * cpu / edges, 3),
        "bytes": round(moved / edges, 1),
        "bandwidth": round(bandwidth / 1e9, 2),
        "fraction": round(moved / best / bandwidth, 3),
        "fetching": round(1e9 * fetching / edges, 3),
        "limit": round((fetching + (moved - heard) / bandwidth) / best, 3),
        "gigabytes": round(peak_gigabytes(), 2),
    }


def _iterate(engine: MinSum, rules: Rules) -> None:
    if isinstance(engine, SoftMessages):
        engine.run_softly(Phases(np.ones(ITERATIONS), -np.ones(ITERATIONS)), rules)
    else:
        engine.run(ITERATIONS, rules)
