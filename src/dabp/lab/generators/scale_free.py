"""Random problems on scale-free networks (Barabási–Albert)."""

from __future__ import annotations

import numpy as np

from dabp.errors import ParameterError
from dabp.lab.generators.graphs import Edges, binary_problem, check, check_size, ordered, random_tree, uniform_costs
from dabp.problem import Problem


def scale_free(
    variables: int = 60,
    domain: int = 15,
    m0: int = 10,
    m1: int = 10,
    max_cost: int = 100,
    seed: int = 0,
) -> Problem:
    """Preferential attachment: each new vertex joins m1 others, chosen in proportion to their degrees.

    Starts from a random tree on m0 vertices; the paper's text asks for a connected graph, so both agree.

    Parameters
    ----------
    variables, domain
        |X| and the number of values.
    m0, m1
        Vertices at the start, and edges of each later vertex (as many as there are vertices, if fewer).
    max_cost
        Costs are integers 0..max_cost.
    seed
        Decides everything.
    """
    check(variables=variables, domain=domain)
    if m0 < 1 or m1 < 1:
        raise ParameterError(f"m0 and m1 are at least 1, not {m0} and {m1}")
    check_size(variables, min(m1, variables) * variables * domain**2 / 2)
    rng = np.random.default_rng(seed)
    edges = preferential_attachment(rng, variables, m0, m1)
    tables = uniform_costs(rng, len(edges), domain, max_cost)
    return binary_problem(f"scale-free-{variables}-{seed}", variables, domain, edges, tables)


def preferential_attachment(rng: np.random.Generator, vertices: int, m0: int, m1: int) -> Edges:
    """The edges of a Barabási–Albert graph."""
    pairs = random_tree(rng, min(m0, vertices))
    ends = ordered(pairs).ravel().tolist()  # a vertex stands here once for each of its edges
    for new in range(m0, vertices):
        chosen: set[int] = set(range(new)) if new <= m1 else set()
        while len(chosen) < min(m1, new):
            chosen.add(ends[int(rng.integers(len(ends)))])
        for old in sorted(chosen):
            pairs.add((old, new))
            ends += (old, new)
    return ordered(pairs)
