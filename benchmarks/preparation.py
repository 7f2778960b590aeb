"""How long `auto` prepares before its first member searches, and how late it answers, on large problems of any kind.

    python -m benchmarks.preparation
    python -m benchmarks.preparation --kinds grid dense --variables 100000 --seconds 1 5

A row per kind, size and limit: the seconds until the first member had been set up (presolve, features, first answers
and its own layout are before it), the CPU time of all threads until then, which part of the limit the seconds are, who
it was, and how late the answer came. Every solve is on a problem that nothing was computed of before.
"""

from __future__ import annotations

import argparse
import time
from typing import Any
from unittest import mock

import numpy as np

import dabp
from benchmarks.auto_runs import table
from benchmarks.vision_problems import large_grid
from dabp.problem import Problem
from dabp.solvers.auto.running_member import Slices


def shared(scopes: np.ndarray, count: int, domain: int, rng: np.random.Generator, tables: int = 50) -> Problem:
    """Random unary costs, and one of some random tables for each scope, [m, arity]."""
    arity, cells = scopes.shape[1], domain ** scopes.shape[1]
    return Problem(
        np.full(count, domain),
        np.concatenate([np.arange(count), scopes.ravel()]),
        np.concatenate([np.arange(count), count + arity * np.arange(len(scopes) + 1)]),
        rng.integers(0, 101, count * domain + tables * cells).astype(float),
        np.concatenate([domain * np.arange(count), domain * count + cells * np.arange(tables + 1)]),
        np.concatenate([np.arange(count), count + rng.integers(tables, size=len(scopes))]),
    )


def drawn(kind: str, count: int) -> Problem:
    """About `count` variables; a dense problem has as many pairs as a grid of so many would."""
    rng = np.random.default_rng(0)
    if kind == "grid":
        return large_grid("random", side=int(np.sqrt(count)))
    if kind == "potts":
        return large_grid("potts", side=int(np.sqrt(count)))
    if kind == "dense":
        few = max(4, int(np.sqrt(4 * count)))
        return shared(np.argwhere(np.triu(np.ones((few, few), dtype=bool), 1)), few, 5, rng)
    arity = 2 if kind == "degree 6" else 3
    rounds = [np.stack([rng.permutation(count) for _ in range(arity)], axis=1) for _ in range(3)]
    scopes = np.concatenate(rounds)
    return shared(scopes[(np.diff(np.sort(scopes, axis=1), axis=1) > 0).all(axis=1)], count, 5, rng)


def measured(problem: Problem, seconds: float) -> tuple[float, float, str, float]:
    """When the first member was ready, in seconds and in CPU seconds, who it was, and how late the answer came."""
    ready: list[tuple[float, float, str]] = []
    start = Slices.start

    def noted(member: Slices, *args: Any, **named: Any) -> None:
        start(member, *args, **named)
        ready.append((time.perf_counter() - started, time.process_time() - worked, member.name))

    with mock.patch.object(Slices, "start", noted):
        started, worked = time.perf_counter(), time.process_time()
        dabp.solve(problem, "auto", time_limit=seconds, threads=2)
        late = time.perf_counter() - started - seconds
    return *min(ready, default=(np.nan, np.nan, "nobody")), late


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kinds", nargs="*", default=["grid", "potts", "degree 6", "dense", "hypergraph"])
    parser.add_argument("--variables", type=int, nargs="*", default=[10_000, 100_000, 1_000_000])
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 5.0, 20.0])
    options = parser.parse_args()
    dabp.solve(drawn("grid", 2_500), "auto", time_limit=1.0)  # kernels are loaded
    table(["kind", "variables", "limit, s", "first member, s", "CPU s", "part of the limit, %", "member", "late, s"])
    for kind in options.kinds:
        for count in options.variables:
            for seconds in options.seconds:
                problem = drawn(kind, count)
                first, work, name, late = measured(problem, seconds)
                cells = f"{first:.2f} | {work:.2f} | {100 * first / seconds:.0f} | {name} | {late:.2f}"
                print(f"| {kind} | {problem.num_variables:,} | {seconds:g} | {cells} |", flush=True)


if __name__ == "__main__":
    main()
