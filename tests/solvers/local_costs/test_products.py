"""Quadratic assignments found in tables: totals are costs for every permutation, and nothing else is taken for one."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.local_costs.products import products_of


def drawn(seed: int, *, symmetric: bool = False, low: int = 0, high: int = 10, size: int = 5) -> Problem:
    """Flows and distances, asymmetric unless told otherwise, with constants in some tables and own costs."""
    rng = np.random.default_rng(seed)
    flow, distance = rng.integers(low, high, (2, size, size)) * 1.0
    if symmetric:
        flow, distance = flow + flow.T, distance + distance.T
    barred = np.where(np.eye(size) > 0, np.inf, 0.0)
    tables = []
    for i, j in itertools.combinations(range(size), 2):
        table = flow[i, j] * distance + flow[j, i] * distance.T + barred + int(rng.integers(3))
        tables.append(((i, j), table) if rng.random() < 0.5 else ((j, i), table.T))
    tables += [((i,), rng.integers(0, 9, size) * 1.0) for i in range(size)]
    return Problem.from_tables([size] * size, tables)


@pytest.mark.parametrize("symmetric", [False, True])
def test_totals_are_costs(symmetric: bool) -> None:
    """Up to one constant, for every permutation, symmetric or not, with negative numbers."""
    for seed in range(20):
        problem = drawn(seed, symmetric=symmetric, low=-5)
        found = products_of(problem)
        assert found is not None
        assert len(found.flow) <= (1 if symmetric else 2)
        differences = set()
        for values in itertools.permutations(range(5)):
            placed = found.distance[:, np.array(values)[:, None], values]
            twice = 0.5 * (found.flow * placed).sum() + found.own[np.arange(5), values].sum()
            differences.add(float(problem.cost(np.array(values))) - 0.5 * twice)
        assert len(differences) == 1


def test_other_tables_are_no_products() -> None:
    """One changed cell, real costs, another forbidden pair, a variable that may equal others: None."""
    problem = drawn(1)
    assert products_of(problem) is not None
    tables = [(tuple(problem.scope(f).tolist()), problem.table(f).copy()) for f in range(problem.num_factors)]
    for change in (1.0, 0.5, np.inf):
        other = [(scope, table.copy()) for scope, table in tables]
        other[3][1][1, 2] += change
        assert products_of(Problem.from_tables([5] * 5, other)) is None
    assert products_of(Problem.from_tables([5] * 6, tables)) is None
    assert products_of(Problem([2, 2])) is None
