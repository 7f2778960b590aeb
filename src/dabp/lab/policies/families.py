"""The problems that the policy of `bp-learned` is trained on, and those that it is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.problem.grid import grid

HELD_OUT = ("small-world", "ising")
"""Kinds that no policy is trained on, chosen before the first training: they tell how well it generalises."""

LAST_SEED = 30_000
"""Seeds of training problems are at most this; those above are for judging."""

Edges = NDArray[np.int64]


def on_edges(edges: Edges, tables: NDArray[np.float64], variables: int, name: str) -> Problem:
    """A table [E, D, D] on each edge [E, 2]."""
    count, domain = len(edges), tables.shape[-1]
    steps = np.arange(count + 1)
    sizes = np.full(variables, domain)
    return Problem(sizes, edges.ravel(), 2 * steps, tables.ravel(), domain * domain * steps, name=name)


def random_pairs(rng: np.random.Generator, variables: int, degree: float) -> Edges:
    """A random graph with about this mean degree."""
    pairs = rng.integers(0, variables, size=(int(0.6 * degree * variables) + 8, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    return pairs[rng.permutation(len(pairs))[: int(degree * variables / 2)]]


def grid_pairs(side: int) -> Edges:
    """Neighbours of a square grid."""
    place = np.arange(side * side).reshape(side, side)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    return np.concatenate([across, np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)])


def _uniform(rng: np.random.Generator, count: int, domain: int) -> NDArray[np.float64]:
    return rng.integers(0, 101, size=(count, domain, domain)).astype(np.float64)


def _sparse(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    edges = random_pairs(rng, 400, rng.uniform(5, 9))
    return on_edges(edges, _uniform(rng, len(edges), int(rng.integers(6, 12))), 400, f"sparse-{seed}")


def _regular(seed: int) -> Problem:
    """Degree 6, but for a few: three random cycles through all variables twice."""
    rng = np.random.default_rng(seed)
    rings = [np.stack([order, np.roll(order, 1)], axis=1) for order in (rng.permutation(800) for _ in range(3))]
    edges = np.unique(np.sort(np.concatenate(rings), axis=1), axis=0)
    return on_edges(edges, _uniform(rng, len(edges), 10), 800, f"regular-{seed}")


def _grid(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    edges = grid_pairs(40)
    return on_edges(edges, _uniform(rng, len(edges), 5), 1600, f"grid-{seed}")


def _potts(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    return grid(rng.random((35, 35, 6)) * rng.uniform(1, 4), "potts")


def _frequencies(seed: int) -> Problem:
    """Distances between neighbours' frequencies too small: a penalty, and forbidden for the nearest."""
    rng = np.random.default_rng(seed)
    edges = random_pairs(rng, 150, 9)
    apart = np.abs(np.subtract.outer(np.arange(16), np.arange(16)))
    least = rng.integers(1, 6, size=len(edges))[:, None, None]
    tables = rng.choice([1.0, 10.0, 100.0], size=len(edges))[:, None, None] * (apart < least)
    hard = rng.random(len(edges)) < 0.15
    tables[hard] = np.where(tables[hard] > 0, np.inf, 0.0)
    return on_edges(edges, tables, 150, f"frequencies-{seed}")


def _forbidden(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    edges = random_pairs(rng, 200, 7)
    tables = _uniform(rng, len(edges), 8)
    tables[rng.random(tables.shape) < 0.15] = np.inf
    return on_edges(edges, tables, 200, f"forbidden-{seed}")


def _triples(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    scopes = [tuple(rng.permutation(80)[:3].tolist()) for _ in range(150)]
    return Problem.from_tables([4] * 80, [(scope, rng.integers(0, 101, (4, 4, 4)) * 1.0) for scope in scopes])


def _generated(kind: str, **shape: object) -> Callable[[int], Problem]:
    return lambda seed: generate(kind, seed=seed, **shape)


FAMILIES: dict[str, Callable[[int], Problem]] = {
    "random 100": _generated("random-cop", variables=100, domain=15, density=0.25),
    "sparse 400": _sparse,
    "colouring 100": _generated("graph-coloring", variables=100, density=0.25),
    "colouring 300": _generated("graph-coloring", variables=300, density=0.083),
    "scale-free 100": _generated("scale-free", variables=100, domain=15, m0=10, m1=10),
    "scale-free 500": _generated("scale-free", variables=500, domain=15, m0=10, m1=10),
    "regular 800": _regular,
    "grid 40": _grid,
    "Potts 35": _potts,
    "frequencies 150": _frequencies,
    "forbidden 200": _forbidden,
    "triples 80": _triples,
}
"""By name, a problem for each seed."""
