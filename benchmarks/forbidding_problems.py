"""Problems whose difficulty is what they forbid, or tables that are large for their number: kinds that were once lost.

- ``warehouses``: a warehouse for each customer, by distance; warehouses that are open cost something.
- ``independent``: a largest set of vertices of a sparse random graph without an edge between two.
- ``cover``: a cheapest set of vertices that touches every edge.
- ``prices``: a graph coloured as planted somewhere, each vertex with prices for its colours; neighbours must differ.
- ``queens``: as many as fit on a board, none attacking another, each with prices for its columns.
- ``matching``: points of a pattern to points of a scene, distances kept: few variables, many values, real costs.
- ``knapsack``: items of most worth below three limits, stated as sums through partial sums.
- ``capacities``: jobs to agents, each with a price and a load there, agents with capacities (generalised assignment).
- ``latin``: a square to complete so that no row or column has a number twice, with prices for the numbers.
- ``values``: few variables of 200 values each, sparse, a third of all combinations forbidden.
"""

from __future__ import annotations

import itertools

import numpy as np

from dabp.problem import Problem
from dabp.problem.model import Model


def _pairs(
    sizes: np.ndarray, scopes: np.ndarray, tables: np.ndarray, which: np.ndarray, unary: list[np.ndarray], name: str
) -> Problem:
    """Pairs [P, 2] with shared tables [T, D, E], and own costs of every variable."""
    count = len(sizes)
    lengths = [tables[0].size] * len(tables) + [len(costs) for costs in unary]
    return Problem(
        sizes,
        np.concatenate([scopes.ravel(), np.arange(count)[: len(unary)]]),
        np.concatenate([[0], np.cumsum([2] * len(scopes) + [1] * len(unary))]),
        np.concatenate([tables.ravel(), *unary]),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate([which, len(tables) + np.arange(len(unary))]),
        name=name,
    )


def _edges(rng: np.random.Generator, count: int, degree: int) -> np.ndarray:
    ends = rng.integers(0, count, (count * degree, 2))
    edges = np.unique(np.sort(ends[ends[:, 0] != ends[:, 1]], axis=1), axis=0)
    return edges[rng.permutation(len(edges))[: count * degree // 2]]


def warehouses(seed: int, *, count: int = 50, customers: int = 100) -> Problem:
    """Prices of 800 to 1,600, a plane 1,000 wide."""
    rng = np.random.default_rng([seed, 0x3A4E])
    place, customer = rng.random((count, 2)), rng.random((customers, 2))
    far = np.rint(1000 * np.hypot(*(customer[:, None] - place[None]).transpose(2, 0, 1)))
    closed = np.zeros((count, 2, count))
    closed[np.arange(count), 0, np.arange(count)] = np.inf
    scopes = np.stack([np.repeat(np.arange(count), customers), np.tile(count + np.arange(customers), count)], axis=1)
    unary = [np.array([0.0, price]) for price in rng.integers(800, 1600, count).tolist()] + list(far)
    sizes = np.array([2] * count + [count] * customers)
    return _pairs(sizes, scopes, closed, scopes[:, 0], unary, f"warehouses {count} x {customers} ({seed})")


def independent(seed: int, *, count: int = 1000, degree: int = 6) -> Problem:
    """Each vertex counts 1."""
    rng = np.random.default_rng([seed, 0x1D])
    edges = _edges(rng, count, degree)
    both = np.array([[[0.0, 0.0], [0.0, np.inf]]])
    unary = [np.array([1.0, 0.0])] * count
    name = f"independent {count} of degree {degree} ({seed})"
    return _pairs(np.full(count, 2), edges, both, np.zeros(len(edges), dtype=np.int64), unary, name)


def cover(seed: int, *, count: int = 3000, degree: int = 10) -> Problem:
    """Vertices of 20 to 99 each."""
    rng = np.random.default_rng([seed, 0xC0])
    edges = _edges(rng, count, degree)
    neither = np.array([[[np.inf, 0.0], [0.0, 0.0]]])
    unary = [np.array([0.0, price]) for price in rng.integers(20, 100, count).tolist()]
    name = f"cover {count} of degree {degree} ({seed})"
    return _pairs(np.full(count, 2), edges, neither, np.zeros(len(edges), dtype=np.int64), unary, name)


def prices(seed: int, *, count: int = 200, colours: int = 14, density: float = 0.3) -> Problem:
    """Prices of 0 to 19; nearly as few colours as the graph has."""
    rng = np.random.default_rng([seed, 0xC01])
    planted = rng.integers(0, colours, count)
    first, second = np.triu_indices(count, 1)
    joined = (rng.random(len(first)) < density) & (planted[first] != planted[second])
    edges = np.stack([first[joined], second[joined]], axis=1)
    unary = [rng.integers(0, 20, colours).astype(float) for _ in range(count)]
    differ = np.where(np.eye(colours) > 0, np.inf, 0.0)[None]
    name = f"prices {count} with {colours} colours ({seed})"
    return _pairs(np.full(count, colours), edges, differ, np.zeros(len(edges), dtype=np.int64), unary, name)


def queens(seed: int, *, count: int = 60) -> Problem:
    """Prices of 0 to 99 for each row's column."""
    rng = np.random.default_rng([seed, 0x9EE])
    rows = np.stack(np.triu_indices(count, 1), axis=1)
    across = np.abs(np.subtract.outer(np.arange(count), np.arange(count)))
    apart = np.array([np.where((across == 0) | (across == k), np.inf, 0.0) for k in range(1, count)])
    unary = [rng.integers(0, 100, count).astype(float) for _ in range(count)]
    return _pairs(np.full(count, count), rows, apart, rows[:, 1] - rows[:, 0] - 1, unary, f"queens {count} ({seed})")


def matching(seed: int, *, pattern: int = 12, scene: int = 200) -> Problem:
    """Every pair of the pattern's points; no two at one point of the scene."""
    rng = np.random.default_rng([seed, 0x3A7C])
    points, model = rng.random((scene, 2)), rng.random((pattern, 2))
    far = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    scopes = np.array(list(itertools.combinations(range(pattern), 2)))
    kept = np.hypot(*(model[scopes[:, 0]] - model[scopes[:, 1]]).T)
    tables = np.where(np.eye(scene) > 0, np.inf, np.abs(far - kept[:, None, None]))
    name = f"matching {pattern} in {scene} ({seed})"
    return _pairs(np.full(pattern, scene), scopes, tables, np.arange(len(scopes)), [], name)


def knapsack(seed: int, *, items: int = 60, limits: int = 3) -> Problem:
    """Worth 10 to 99, weights of 1 to 29, half of all that there is allowed."""
    rng = np.random.default_rng([seed, 0x4A9])
    model = Model(f"knapsack {items} ({seed})", maximize=False)
    names = model.add_variables([f"x{item}" for item in range(items)], 2)
    for name, worth in zip(names, rng.integers(10, 100, items).tolist(), strict=True):
        model.add_cost([name], [float(worth), 0.0])
    for weights in rng.integers(1, 30, (limits, items)):
        model.linear(dict(zip(names, weights.tolist(), strict=True)), "<=", int(weights.sum() // 2))
    return model.build()


def capacities(seed: int, *, jobs: int = 40, agents: int = 6) -> Problem:
    """Prices of 10 to 49, loads of 5 to 24, four fifths of an even share as capacity."""
    rng = np.random.default_rng([seed, 0xCA9])
    model = Model(f"capacities {jobs} on {agents} ({seed})", maximize=False)
    names = model.add_variables([f"job{job}" for job in range(jobs)], agents)
    for name, costs in zip(names, rng.integers(10, 50, (jobs, agents)).astype(float), strict=True):
        model.add_cost([name], costs)
    for agent, loads in enumerate(rng.integers(5, 25, (agents, jobs))):
        on = model.add_variables([f"{name} on {agent}" for name in names], 2)
        told = np.where(np.arange(2) == (np.arange(agents) == agent)[:, None], 0.0, np.inf)
        for name, copy in zip(names, on, strict=True):
            model.add_cost([name, copy], told)
        model.linear(dict(zip(on, loads.tolist(), strict=True)), "<=", int(0.8 * loads.sum() / agents))
    return model.build()


def latin(seed: int, *, size: int = 18, given: float = 0.42) -> Problem:
    """Prices of 0 to 9; some cells of a shuffled cyclic square are given."""
    rng = np.random.default_rng([seed, 0x1A7])
    square = np.add.outer(np.arange(size), np.arange(size)) % size
    square = rng.permutation(size)[square[rng.permutation(size)][:, rng.permutation(size)]]
    cells = np.arange(size * size).reshape(size, size)
    pairs = np.array([pair for line in (*cells, *cells.T) for pair in itertools.combinations(line.tolist(), 2)])
    unary = []
    for value in square.ravel().tolist():
        costs = rng.integers(0, 10, size).astype(float)
        unary.append(np.where(np.arange(size) == value, 0.0, np.inf) if rng.random() < given else costs)
    differ = np.where(np.eye(size) > 0, np.inf, 0.0)[None]
    which = np.zeros(len(pairs), dtype=np.int64)
    return _pairs(np.full(size * size, size), pairs, differ, which, unary, f"latin {size} ({seed})")


def values(seed: int, *, count: int = 100, degree: int = 4, domain: int = 200) -> Problem:
    """Costs of 0 to 999."""
    rng = np.random.default_rng([seed, 0x7A1])
    edges = _edges(rng, count, degree)
    tables = rng.integers(0, 1000, (len(edges), domain, domain)).astype(float)
    tables[rng.random(tables.shape) < 0.3] = np.inf
    unary = [rng.integers(0, 1000, domain).astype(float) for _ in range(count)]
    return _pairs(np.full(count, domain), edges, tables, np.arange(len(edges)), unary, f"values {count} ({seed})")


FORBIDDING = {
    "warehouses": warehouses,
    "independent": independent,
    "cover": cover,
    "prices": prices,
    "queens": queens,
    "matching": matching,
    "knapsack": knapsack,
    "capacities": capacities,
    "latin": latin,
    "values": values,
}
