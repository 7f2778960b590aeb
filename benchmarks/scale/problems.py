"""What is measured on: random graphs of degree 6, grids and chains of any size, domain 5 or 2, costs 0..100."""

from __future__ import annotations

import numpy as np

from benchmarks.large_problems import on_graph, sparse
from benchmarks.vision_problems import from_arrays, grid_edges
from dabp.problem import Problem

DOMAIN, SHARED_TABLES = 5, 1000


def chain(variables: int, seed: int = 1) -> Problem:
    """Each variable with the next, a table a pair."""
    edges = np.stack([np.arange(variables - 1), np.arange(1, variables)], axis=1)
    return on_graph(edges, variables, DOMAIN, np.random.default_rng(seed), f"chain-{variables}")


def grid(variables: int, seed: int = 1) -> Problem:
    """About as many variables as a square; each pair has one of 1,000 random tables."""
    side = round(variables**0.5)
    rng, edges, cells = np.random.default_rng(seed), grid_edges(side, side), DOMAIN * DOMAIN
    steps = np.arange(len(edges) + 1)
    return Problem(
        np.full(side * side, DOMAIN),
        edges.ravel(),
        2 * steps,
        rng.integers(0, 101, size=SHARED_TABLES * cells),
        cells * np.arange(SHARED_TABLES + 1),
        rng.integers(SHARED_TABLES, size=len(edges)),
        name=f"grid-{side}",
    )


def potts(variables: int, seed: int = 1) -> Problem:
    """A square with random costs of values, and 20 or 40 for neighbours that differ."""
    side = round(variables**0.5)
    rng, edges = np.random.default_rng(seed), grid_edges(side, side)
    unary = rng.integers(0, 101, size=(side * side, DOMAIN))
    return from_arrays(f"potts-{side}", unary, edges, rng.choice([20, 40], size=len(edges)))


def degree_6(variables: int, seed: int = 1) -> Problem:
    """A random graph of average degree 6, a table a pair."""
    return sparse(variables, seed)


def two_values(variables: int, seed: int = 1) -> Problem:
    """The same with two values."""
    return sparse(variables, seed, domain=2)


KINDS = {"degree 6": degree_6, "grid": grid, "chain": chain, "potts": potts, "two values": two_values}
