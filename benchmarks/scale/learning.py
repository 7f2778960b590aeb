"""DABP: the time of an edge as problems grow, and an iteration on the paper's 60 variables."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import Any

import torch

from benchmarks.dabp import LENGTH, make_problem, time_ours
from benchmarks.scale.records import peak_gigabytes


def measurements() -> Iterator[dict[str, Any]]:
    """Sparse graphs of degree 6 and domain 10 on one thread; 60 variables on two."""
    for size in (1250, 5000, 20_000):
        yield {"kind": "sparse", "variables": size, "threads": 1}
    for size in (60, 100):
        yield {"kind": "random", "variables": size, "threads": 2}


def measured(kind: str, variables: int, threads: int) -> dict[str, Any]:
    """Milliseconds of an iteration, its share of the update included: the median of windows.

    `us_an_edge_deepest` is from windows whose backward pass goes through all their iterations, whatever the problem.
    """
    torch.set_num_threads(threads)
    problem = make_problem(kind, variables)
    times, edges = time_ours(problem, threads)
    wall, cpu = (1e3 * statistics.median(one) / LENGTH for one in zip(*times, strict=True))
    _, deep = (1e3 * statistics.median(one) / LENGTH for one in zip(*time_ours(problem, threads, True)[0], strict=True))
    return {
        "edges": edges,
        "ms": round(wall, 2),
        "cpu_ms": round(cpu, 2),
        "us_an_edge": round(1e3 * cpu / edges, 3),
        "us_an_edge_deepest": round(1e3 * deep / edges, 3),
        "gigabytes": round(peak_gigabytes(), 2),
    }
