"""The problems that the policy of `bp-learned` is trained on, and those that it is not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dabp.lab.generators import generate
from dabp.lab.generators.graphs import Edges, binary_problem, uniform_costs
from dabp.problem import Problem
from dabp.problem.grid import grid

HELD_OUT = ("small-world", "ising")
"""Families that no policy is trained on, chosen before the first training, to measure how well it generalises."""


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


def _sparse(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    edges = random_pairs(rng, 400, rng.uniform(5, 9))
    domain = int(rng.integers(6, 12))
    return binary_problem(f"sparse-{seed}", 400, domain, edges, uniform_costs(rng, len(edges), domain, 100))


def _regular(seed: int) -> Problem:
    """Degree 6, but for a few: three random cycles through all variables twice."""
    rng = np.random.default_rng(seed)
    rings = [np.stack([order, np.roll(order, 1)], axis=1) for order in (rng.permutation(800) for _ in range(3))]
    edges = np.unique(np.sort(np.concatenate(rings), axis=1), axis=0)
    return binary_problem(f"regular-{seed}", 800, 10, edges, uniform_costs(rng, len(edges), 10, 100))


def _grid(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    edges = grid_pairs(40)
    return binary_problem(f"grid-{seed}", 1600, 5, edges, uniform_costs(rng, len(edges), 5, 100))


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
    return binary_problem(f"frequencies-{seed}", 150, 16, edges, tables)


def _forbidden(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    edges = random_pairs(rng, 200, 7)
    tables = uniform_costs(rng, len(edges), 8, 100)
    tables[rng.random(tables.shape) < 0.15] = np.inf
    return binary_problem(f"forbidden-{seed}", 200, 8, edges, tables)


def _triples(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    scopes = [tuple(rng.permutation(80)[:3].tolist()) for _ in range(150)]
    return Problem.from_tables([4] * 80, [(scope, rng.integers(0, 101, (4, 4, 4)) * 1.0) for scope in scopes])


def _generated(family: str, **shape: object) -> Callable[[int], Problem]:
    return lambda seed: generate(family, seed=seed, **shape)


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
"""Functions of a seed that make the problems of each family."""
