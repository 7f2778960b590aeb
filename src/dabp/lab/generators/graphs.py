"""What the families share: checks, random graphs, and their cost tables as a `Problem`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.problem import Problem

Edges = NDArray[np.int64]
"""Pairs of variables, [M, 2], the smaller index first."""

MOST_COSTS = 500_000_000
"""Costs of a generated problem at most: 4 GB."""


def check_size(variables: float, costs: float) -> None:
    """Refuse a problem that would fill the memory."""
    if variables > 10_000_000 or costs > MOST_COSTS:
        raise ParameterError(
            f"a problem of {variables:,.0f} variables and {costs:,.0f} costs is too large: "
            f"10,000,000 variables and {MOST_COSTS:,} costs at most"
        )


def check(*, variables: int, domain: int, variant: str = "authors") -> None:
    """Refuse sizes that make no problem."""
    if variables < 1 or domain < 1:
        raise ParameterError(f"a problem needs variables and values: {variables} variables of domain {domain}")
    check_size(variables, domain)
    if variant not in ("authors", "text"):
        raise ParameterError(f"variant is 'authors' or 'text', not {variant!r}")


def binary_problem(name: str, variables: int, domain: int, edges: Edges, tables: NDArray[np.float64]) -> Problem:
    """A problem with a table per edge, [M, domain, domain]."""
    count = len(edges)
    return Problem(
        np.full(variables, domain),
        edges.ravel(),
        np.arange(count + 1) * 2,
        tables.ravel(),
        np.arange(count + 1) * domain * domain,
        name=name,
    )


def uniform_costs(rng: np.random.Generator, count: int, domain: int, max_cost: int) -> NDArray[np.float64]:
    """Integer costs 0..max_cost for every combination of every edge, [M, domain, domain]."""
    check_size(0, count * domain**2)
    return rng.integers(0, max_cost + 1, size=(count, domain, domain)).astype(np.float64)


def pair(u: int, v: int) -> tuple[int, int]:
    """An edge as it is kept in sets: the smaller vertex first."""
    return (u, v) if u < v else (v, u)


def ordered(pairs: set[tuple[int, int]]) -> Edges:
    """A set of pairs as a sorted array, so that the result does not depend on hashing."""
    return np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)


def random_tree(rng: np.random.Generator, vertices: int) -> set[tuple[int, int]]:
    """A random spanning tree: vertices in random order, each joined to an earlier one."""
    order = rng.permutation(vertices).tolist()
    return {pair(order[i], order[int(rng.integers(i))]) for i in range(1, vertices)}


def random_edges(rng: np.random.Generator, variables: int, density: float, variant: str) -> Edges:
    """Edges of a uniform random graph.

    The authors' program: a random spanning tree plus uniform edges up to exactly ⌊density·n(n−1)/2⌋ (the
    tree alone if that has more). The text: each pair with probability `density`.
    """
    if not 0 <= density <= 1:
        raise ParameterError(f"density is between 0 and 1, not {density}")
    total = variables * (variables - 1) // 2
    check_size(variables, total if variant == "text" else density * total)
    if variant == "text":
        rows, columns = np.triu_indices(variables, 1)
        chosen = rng.random(total) < density
        return np.stack([rows[chosen], columns[chosen]], axis=1).astype(np.int64)
    pairs = random_tree(rng, variables)
    target = int(density * total)
    if target > total // 2:  # drawing and rejecting would be slow: draw from what is left
        rows, columns = np.triu_indices(variables, 1)
        rest = [p for p in zip(rows.tolist(), columns.tolist(), strict=True) if p not in pairs]
        extra = rng.permutation(len(rest))[: max(0, target - len(pairs))]
        pairs.update(rest[i] for i in extra.tolist())
    while len(pairs) < target:
        u, v = (int(x) for x in rng.integers(variables, size=2))
        if u != v:
            pairs.add(pair(u, v))
    return ordered(pairs)
