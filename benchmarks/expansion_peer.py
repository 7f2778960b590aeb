"""α-expansion by PyMaxflow (``pip install PyMaxflow``, GPL, for benchmarks only) on pairwise problems."""

from __future__ import annotations

import importlib.util
import sys
import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from dabp.graph.places import Places
from dabp.problem import Problem
from dabp.problem.columns import first_least, unary_costs

NAME = "PyMaxflow"


def available() -> bool:
    """Whether the package is there."""
    return importlib.util.find_spec("maxflow") is not None


def expand(problem: Problem, seconds: float) -> tuple[np.ndarray, float]:
    """Expansions of one value after the other until none improves anything, or the time is over; and when it was best.

    Tables that a cut cannot have are raised as our own expansion does; all columns are NumPy's, the flow PyMaxflow's.
    """
    import maxflow

    started = time.perf_counter()
    places, count = Places.of(problem), problem.num_variables
    first, second = places.scopes.T
    begin = problem.pool_offsets[problem.factor_table[places.factors]]
    width, labels = problem.domain_sizes[second], int(problem.domain_sizes.max())
    unary, starts = unary_costs(problem)
    values = first_least(unary, starts)
    best, idle, turn, last = float(problem.cost(values)), 0, 0, 0.0
    while idle < labels and time.perf_counter() - started < seconds:
        proposal = np.where(turn % labels < problem.domain_sizes, turn % labels, values)
        turn, idle = turn + 1, idle + 1
        old, new = begin + values[first] * width, begin + proposal[first] * width
        keep_keep, keep_take = problem.pool[old + values[second]], problem.pool[old + proposal[second]]
        take_keep, take_take = problem.pool[new + values[second]], problem.pool[new + proposal[second]]
        taking = unary[starts[:-1] + proposal] - unary[starts[:-1] + values]
        taking += np.bincount(first, take_keep - keep_keep, count) + np.bincount(second, take_take - take_keep, count)
        capacity = np.maximum(0.0, keep_take + take_keep - keep_keep - take_take)
        graph = maxflow.GraphFloat(count, len(first))
        nodes = graph.add_nodes(count)
        graph.add_edges(nodes[first], nodes[second], capacity, np.zeros(len(first)))
        graph.add_grid_tedges(nodes, np.maximum(taking, 0.0), np.maximum(-taking, 0.0))
        graph.maxflow()
        moved = np.where(graph.get_grid_segments(nodes), proposal, values)
        cost = float(problem.cost(moved))
        if cost < best and time.perf_counter() - started < seconds:
            values, best, idle, last = moved, cost, 0, time.perf_counter() - started
    return values, last


@dataclass(frozen=True)
class PeerRun:
    """Stands where a `benchmarks.auto_runs.Run` does."""

    key: str
    problem: Problem
    seconds: float

    def __call__(self) -> dict[str, Any]:
        """Expand, and say what came of it."""
        started = time.perf_counter()
        values, last = expand(self.problem, self.seconds)
        wall = round(time.perf_counter() - started, 3)
        return {
            "key": self.key,
            "command": " ".join(["python -m benchmarks.auto", *sys.argv[1:]]),
            "cost": float(self.problem.cost(values)),
            "bound": None,
            "status": "LIMIT" if wall > self.seconds else "CONVERGED",
            "runtime": wall,
            "wall": wall,
            "last": round(last, 3),
            "notes": [],
        }
