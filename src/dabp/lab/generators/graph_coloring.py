"""Weighted graph colouring problems."""

from __future__ import annotations

import numpy as np

from dabp.lab.generators.graphs import binary_problem, check, check_size, random_edges
from dabp.problem import Problem


def graph_coloring(
    variables: int = 60,
    domain: int = 5,
    density: float = 0.25,
    max_cost: int = 100,
    variant: str = "authors",
    seed: int = 0,
) -> Problem:
    """Random graph of density p1; equal values cost an integer in 1..max_cost.

    Parameters
    ----------
    variables, domain
        |X| and the number of colours.
    density
        p1, the fraction of pairs that are constrained.
    max_cost
        Largest cost of a conflict; drawn for each constraint and colour.
    variant
        ``authors``: U[0, 0.1] on unequal values, counted in the cost; ``text``: 0 there.
    seed
        Decides everything.
    """
    check(variables=variables, domain=domain, variant=variant)
    rng = np.random.default_rng(seed)
    edges = random_edges(rng, variables, density, variant)
    count = len(edges)
    check_size(variables, count * domain**2)
    noise = rng.uniform(0.0, 0.1, size=(count, domain, domain))
    tables = noise if variant == "authors" else np.zeros_like(noise)
    diagonal = np.arange(domain)
    tables[:, diagonal, diagonal] = rng.integers(1, max_cost + 1, size=(count, domain))
    return binary_problem(f"graph-coloring-{variables}-{seed}", variables, domain, edges, tables)
