"""Random problems of binary variables and pairwise factors."""

from __future__ import annotations

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import offsets_of


def binary_problem(seed: int, *, variables: int = 10, integral: bool | None = None) -> Problem:
    """Variables of one or two values, several factors on one pair, some values forbidden by themselves."""
    rng = np.random.default_rng([seed, 2])
    n = int(rng.integers(1, variables + 1))
    sizes = np.where(rng.random(n) < 0.15, 1, 2)
    scopes = [rng.permutation(n)[: min(n, int(rng.choice([0, 1, 2, 2, 2])))] for _ in range(rng.integers(0, 4 * n))]
    integral = bool(rng.random() < 0.5) if integral is None else integral
    tables = []
    for scope in scopes:
        shape = int(np.prod(sizes[scope]))
        table = rng.integers(-3, 4, shape).astype(float) if integral else rng.normal(0, 10, shape)
        if len(scope) == 1 and rng.random() < 0.2:
            table[rng.integers(shape)] = np.inf
        tables.append(table)
    return Problem(
        sizes,
        np.concatenate([*scopes, np.zeros(0, dtype=np.int64)]),
        offsets_of([len(s) for s in scopes]),
        np.concatenate([*tables, np.zeros(0)]),
        offsets_of([len(t) for t in tables]),
        constant=float(rng.integers(-5, 5)),
    )


def torus(side: int, weights: np.ndarray, *, maximize: bool = True) -> Problem:
    """Maximum cut on a toroidal grid: `weights` [2 side²] of the edges to the right and down."""
    n = side * side
    right = np.arange(n).reshape(side, side)
    pairs = np.concatenate([np.stack([right, np.roll(right, -1, axis)], axis=-1).reshape(-1, 2) for axis in (1, 0)])
    tables = np.outer(weights, [0.0, 1.0, 1.0, 0.0]).ravel()
    return Problem(
        np.full(n, 2), pairs.ravel(), np.arange(0, 4 * n + 1, 2), tables, 4 * np.arange(2 * n + 1), maximize=maximize
    )
