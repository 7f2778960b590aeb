"""Random problems on small-world networks (Newman–Watts–Strogatz)."""

from __future__ import annotations

import numpy as np

from dabp.errors import ParameterError
from dabp.lab.generators.graphs import Edges, binary_problem, check, check_size, ordered, pair, uniform_costs
from dabp.problem import Problem


def small_world(
    variables: int = 60,
    domain: int = 15,
    k: int = 10,
    p: float = 0.3,
    max_cost: int = 100,
    seed: int = 0,
) -> Problem:
    """A ring with each vertex joined to its k nearest, plus a shortcut per ring edge with probability p.

    Parameters
    ----------
    variables, domain
        |X| and the number of values.
    k, p
        Neighbours on the ring (k // 2 to each side), and the probability of a shortcut for each ring edge.
    max_cost
        Costs are integers 0..max_cost.
    seed
        Decides everything.
    """
    check(variables=variables, domain=domain)
    if k < 0 or not 0 <= p <= 1:
        raise ParameterError(f"k is at least 0 and p between 0 and 1, not {k} and {p}")
    check_size(variables, min(k, variables) * variables * domain**2 / 2)
    rng = np.random.default_rng(seed)
    edges = newman_watts_strogatz(rng, variables, k, p)
    tables = uniform_costs(rng, len(edges), domain, max_cost)
    return binary_problem(f"small-world-{variables}-{seed}", variables, domain, edges, tables)


def newman_watts_strogatz(rng: np.random.Generator, vertices: int, k: int, p: float) -> Edges:
    """The edges of a Newman–Watts–Strogatz graph: none of the ring's is removed."""
    steps = range(1, k // 2 + 1)
    ring = {pair(u, (u + s) % vertices) for u in range(vertices) for s in steps if s % vertices}
    pairs = set(ring)
    degree = np.bincount(ordered(ring).ravel(), minlength=vertices)
    for u, _ in ordered(ring).tolist():
        if rng.random() >= p or degree[u] >= vertices - 1:
            continue
        w = u
        while w == u or pair(u, w) in pairs:
            w = int(rng.integers(vertices))
        pairs.add(pair(u, w))
        degree[[u, w]] += 1
    return ordered(pairs)
