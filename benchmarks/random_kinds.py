"""A random problem of any kind: graph, density, domains, costs and size are all drawn."""

from __future__ import annotations

import numpy as np

from benchmarks.vision_problems import grid_edges
from dabp.problem import Problem

GRAPHS = ("grid", "torus", "random", "dense", "tree", "clusters", "triples")
COSTS = ("integers", "unit", "reals", "potts", "truncated", "colouring", "crisp", "hundreds")


def random_kind(seed: int) -> Problem:
    """By seed; up to 20,000 variables, fewer where they have many neighbours or values."""
    rng = np.random.default_rng([seed, 0xF1])
    graph, costs = str(rng.choice(GRAPHS)), str(rng.choice(COSTS))
    count = int(np.exp(rng.uniform(np.log(20), np.log(300 if graph == "dense" else 20_000))))
    scopes = _scopes(rng, graph, count)
    count = int(scopes.max()) + 1
    largest = int(rng.choice([2, 2, 3, 5, 8, 16] if scopes.shape[1] == 2 else [2, 3]))
    mixed = rng.random() < 0.2 and costs in ("integers", "reals", "crisp")
    sizes = rng.integers(1, largest + 1, count) if mixed else np.full(count, largest)
    unary = rng.random() < 0.7
    tables = [_table(rng, costs, tuple(sizes[scope].tolist())) for scope in scopes]
    if unary:
        tables += [_unary(rng, costs, int(size)) for size in sizes]
    flat = np.concatenate([scopes.ravel(), np.arange(count) if unary else np.zeros(0, dtype=np.int64)])
    arities = np.concatenate([np.full(len(scopes), scopes.shape[1]), np.ones(count if unary else 0, dtype=np.int64)])
    return Problem(
        sizes,
        flat,
        np.concatenate([[0], np.cumsum(arities)]),
        np.concatenate([table.ravel() for table in tables]),
        np.concatenate([[0], np.cumsum([table.size for table in tables])]),
        name=f"{graph} {costs} n={count} D={largest}{' mixed' if mixed else ''} ({seed})",
    )


def _scopes(rng: np.random.Generator, graph: str, count: int) -> np.ndarray:
    side = max(3, int(count**0.5))
    if graph in ("grid", "torus"):
        edges = grid_edges(side, side)
        number = np.arange(side * side).reshape(side, side)
        around = np.concatenate([np.stack([number[-1], number[0]], 1), np.stack([number[:, -1], number[:, 0]], 1)])
        return edges if graph == "grid" else np.concatenate([edges, around])
    if graph == "tree":
        above = (rng.random(count - 1) * np.arange(1, count)).astype(np.int64)
        return np.stack([above, np.arange(1, count)], axis=1)
    if graph == "triples":
        count = min(count, 3000)
        return np.stack([rng.permutation(count)[:3] for _ in range(2 * count)])
    degree = {"random": rng.uniform(2, 8), "dense": rng.uniform(10, 40), "clusters": 4.0}[graph]
    pairs = rng.integers(0, count, size=(int(count * degree / 2), 2))
    if graph == "clusters":
        pairs[:, 1] = np.minimum(pairs[:, 0] // 8 * 8 + pairs[:, 1] % 8, count - 1)
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return pairs if len(pairs) else np.array([[0, 1]])


def _table(rng: np.random.Generator, costs: str, shape: tuple[int, ...]) -> np.ndarray:
    values = np.indices(shape)
    spread = values.max(axis=0) - values.min(axis=0)
    if costs == "potts":
        return rng.integers(1, 30) * (spread > 0).astype(float)
    if costs == "truncated":
        return rng.integers(1, 20) * np.minimum(spread, 3).astype(float)
    if costs == "colouring":
        return rng.integers(1, 100) * (spread == 0).astype(float)
    if costs == "unit":
        return rng.choice([-1.0, 1.0]) * (spread == 0)
    if costs == "reals":
        return rng.normal(0, 5, size=shape)
    table = rng.integers(0, 101, size=shape).astype(float)
    if costs == "crisp":
        table[rng.random(shape) < 0.05] = np.inf
        table.flat[int(rng.integers(table.size))] = 1.0
    return 100.0 * table if costs == "hundreds" else table


def _unary(rng: np.random.Generator, costs: str, size: int) -> np.ndarray:
    return rng.choice([-1.0, 0.0, 1.0], size=size) if costs == "unit" else rng.integers(0, 40, size=size).astype(float)
