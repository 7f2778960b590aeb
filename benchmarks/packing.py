"""Packing problems, stated as forbidden pairs: toulbar2 with the cliques that are found among them and without.

``python -m benchmarks.exact packing`` prints one row per problem. Bids ask for sets of goods, jobs for stretches of
time, discs for places; each has a value, no two may overlap, and the last kind is a random graph without structure.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

import dabp

KINDS = {"auction": 200, "intervals": 200, "discs": 200, "random": 160}
"""Number of variables of each kind."""


def overlaps(kind: str, count: int, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which two choices exclude each other, [n, n]."""
    if kind == "auction":
        asked = np.zeros((count, count // 3), dtype=np.int64)
        for row in asked:
            row[rng.choice(len(row), size=rng.integers(2, 7), replace=False)] = 1
        return asked @ asked.T > 0
    if kind == "intervals":
        start = rng.random(count)
        end = start + 0.2 * rng.random(count)
        return (start[:, None] <= end) & (start <= end[:, None])
    if kind == "discs":
        place = rng.random((count, 2))
        return ((place[:, None] - place) ** 2).sum(axis=2) < 0.02
    upper = np.triu(rng.random((count, count)) < 0.5, 1)
    return upper | upper.T


def packing(kind: str, count: int, seed: int) -> dabp.Problem:
    """Leave out as little value as possible."""
    rng = np.random.default_rng(seed)
    pairs = np.argwhere(np.triu(overlaps(kind, count, rng), 1))
    model = dabp.Model(f"{kind}-{count}-{seed}")
    names = model.add_variables([f"x{v}" for v in range(count)], 2)
    for name in names:
        model.add_cost(name, [float(rng.integers(1, 101)), 0.0])
    model.add_costs(pairs, np.array([[0.0, 0.0], [0.0, np.inf]]))
    return model.build()


def compare(seeds: int, limit: float) -> None:
    """One row per problem: status, cost, bound and seconds with and without cliques."""
    print(f"{'problem':18} {'with cliques':>44} {'without':>44}")
    for kind, count in KINDS.items():
        for seed in range(1, seeds + 1):
            problem, row = packing(kind, count, seed), f"{kind}-{count}-{seed}".ljust(18)
            for cliques in (True, False):
                start = time.perf_counter()
                result = dabp.solve(problem, "toulbar2", params={"cliques": cliques}, time_limit=limit)
                told = (
                    f"{result.status.name} {result.cost:g} bound {result.bound:.0f} {time.perf_counter() - start:.1f} s"
                )
                row += f" {told:>44}"
            print(row, flush=True)
