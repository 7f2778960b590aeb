"""Uniform random problems with one cost table per edge of a random graph."""

from __future__ import annotations

import numpy as np

from dabp.lab.generators.graphs import binary_problem, check, random_edges, uniform_costs
from dabp.problem import Problem


def random_cop(
    variables: int = 60,
    domain: int = 15,
    density: float = 0.25,
    max_cost: int = 100,
    variant: str = "authors",
    seed: int = 0,
) -> Problem:
    """Random graph of density p1, integer costs 0..max_cost on every combination.

    Parameters
    ----------
    variables, domain
        |X| and the number of values.
    density
        p1, the fraction of pairs that are constrained.
    max_cost
        Largest cost.
    variant
        ``authors``: connected, with exactly ⌊p1·n(n−1)/2⌋ constraints; ``text``: each pair with probability p1.
    seed
        Decides everything.
    """
    check(variables=variables, domain=domain, variant=variant)
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, variables, density, variant)
    tables = uniform_costs(rng, len(edges), domain, max_cost)
    return binary_problem(f"random-cop-{variables}-{seed}", variables, domain, edges, tables)
