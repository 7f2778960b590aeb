"""Three kinds of large problem with uniform integer costs 0..100: regular graphs, scale-free networks, grids."""

from __future__ import annotations

import networkx as nx
import numpy as np

from dabp.lab.generators import generate
from dabp.problem import Problem


def on_graph(edges: np.ndarray, variables: int, domain: int, rng: np.random.Generator, name: str) -> Problem:
    """A binary factor with random costs on each edge [E, 2]."""
    count = len(edges)
    costs = rng.integers(0, 101, size=count * domain * domain)
    steps = np.arange(count + 1)
    return Problem(np.full(variables, domain), edges.ravel(), 2 * steps, costs, domain * domain * steps, name=name)


def regular(seed: int) -> Problem:
    """3,000 variables of degree 6, domain 10."""
    graph = nx.random_regular_graph(6, 3000, seed=seed)
    return on_graph(np.array(sorted(graph.edges)), 3000, 10, np.random.default_rng(seed), f"regular-{seed}")


def scale_free(seed: int) -> Problem:
    """1,000 variables, 10 edges for each new one, domain 15."""
    return generate("scale-free", variables=1000, domain=15, m0=10, m1=10, seed=seed)


def grid(seed: int) -> Problem:
    """100 × 100 variables, domain 5."""
    place = np.arange(10_000).reshape(100, 100)
    across = np.stack([place[:, :-1].ravel(), place[:, 1:].ravel()], axis=1)
    down = np.stack([place[:-1].ravel(), place[1:].ravel()], axis=1)
    return on_graph(np.concatenate([across, down]), 10_000, 5, np.random.default_rng(seed), f"grid-{seed}")


def sparse(variables: int, seed: int, domain: int = 5) -> Problem:
    """A random graph of average degree 6."""
    rng = np.random.default_rng(seed)
    pairs = rng.integers(0, variables, size=(4 * variables, 2))
    pairs = np.unique(np.sort(pairs[pairs[:, 0] != pairs[:, 1]], axis=1), axis=0)
    chosen = pairs[rng.permutation(len(pairs))[: 3 * variables]]
    return on_graph(chosen, variables, domain, rng, f"sparse-{variables}")


KINDS = {"regular": regular, "scale-free": scale_free, "grid": grid}
