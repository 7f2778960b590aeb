"""Linear assignment: the least total by enumeration, and reduced costs that prove it."""

from __future__ import annotations

import itertools

import numpy as np

from dabp.kernels.assignment.linear import room_for
from dabp.kernels.assignment.pairs import total


def test_the_least_total_and_its_proof() -> None:
    """Of small matrices of every kind; reduced costs are not negative, and 0 in the assignment."""
    for seed in range(300):
        rng = np.random.default_rng(seed)
        size, spread = int(rng.integers(1, 7)), int(rng.integers(1, 40))
        costs = rng.integers(-spread, spread, (size, size))
        reduced, columns = costs.copy(), np.zeros(size, dtype=np.int64)
        value = total(reduced, room_for(size + int(rng.integers(3))), columns)
        rows = np.arange(size)
        assert value == min(costs[rows, list(order)].sum() for order in itertools.permutations(range(size)))
        assert value == costs[rows, columns].sum()
        assert reduced.min() >= 0
        assert (reduced[rows, columns] == 0).all()


def test_large_problems_reduce_to_zero() -> None:
    """A matrix of 150 rows whose assignment is known because all other cells cost more."""
    rng = np.random.default_rng(1)
    columns, found = rng.permutation(150), np.zeros(150, dtype=np.int64)
    costs = rng.integers(500, 1_000, (150, 150))
    costs[np.arange(150), columns] = rng.integers(0, 500, 150)
    lowest = int(costs[np.arange(150), columns].sum())
    assert total(costs.copy(), room_for(150), found) == lowest
    assert np.array_equal(found, columns)
