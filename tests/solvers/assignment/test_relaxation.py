"""The relaxation of a permutation problem: its total is the problem's cost, for every permutation."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.kernels.assignment.linear import room_for
from dabp.kernels.assignment.pairs import ascend, fill, restrict, total
from dabp.solvers.assignment.relaxation import Relaxation, relaxation_of
from tests.solvers.assignment.test_assignment import drawn


def total_of(known: Relaxation, shares: np.ndarray, leaders: np.ndarray, columns: tuple[int, ...]) -> int:
    rows = np.arange(len(leaders))
    pairs = shares[rows[:, None], np.array(columns)[:, None], rows, np.array(columns)].sum()
    return known.base + int(leaders[rows, list(columns)].sum()) + int(pairs)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 6])
def test_totals_are_costs_before_and_after_ascent(seed: int) -> None:
    """Costs only move: what the bound gained and what is left add up to the cost; so do restricted problems."""
    problem = drawn(seed)
    known = relaxation_of(problem)
    assert known is not None
    size = len(known.leaders)
    shares, leaders = np.zeros((size,) * 4, dtype=np.int64), known.leaders.copy()
    fill(known.tables, shares)
    room, gained = room_for(size), 0
    for round_ in range(4):
        for columns in itertools.islice(itertools.permutations(range(size)), 0, None, 7):
            values = known.tables.value[np.arange(len(known.members)), columns[: len(known.members)]]
            found = (gained + total_of(known, shares, leaders, columns)) / 2.0**known.bits + known.constant
            assert found == pytest.approx(float(problem.cost(values)), abs=1e-6), round_
        ascend(shares, leaders, room)
        gained += int(total(leaders, room, np.zeros(size, dtype=np.int64)))
        assert shares.min() >= 0
        assert leaders.min() >= 0
    fewer, fewer_leaders = np.zeros((size - 1,) * 4, dtype=np.int64), np.zeros((size - 1,) * 2, dtype=np.int64)
    restrict(shares, leaders, 1, 2, fewer, fewer_leaders)
    rest = tuple(column for column in range(size) if column != 2)
    whole = (rest[0], 2, *rest[1:])
    less = total_of(known, fewer, fewer_leaders, tuple(range(size - 1))) + int(leaders[1, 2])
    assert less == total_of(known, shares, leaders, whole)
