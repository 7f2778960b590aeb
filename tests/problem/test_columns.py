"""Columns and ragged arrays, against the same written out one by one."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.problem.columns import (
    _row_hashes,
    cell_strides,
    cheapest_values,
    different_rows,
    distinct,
    nullary_constant,
    offsets_of,
    own_costs,
    ragged_positions,
    row_keys,
    table_ranges,
    unary_costs,
)
from tests.problems import random_problem


def test_offsets_and_positions_of_ragged_rows() -> None:
    """Pieces chosen by their positions are the pieces of the list, empty ones included."""
    pieces = [[3, 1], [], [4, 1, 5], [9]]
    flat, offsets = (
        np.concatenate([*pieces, np.zeros(0)]).astype(np.int64),
        offsets_of([len(piece) for piece in pieces]),
    )
    assert offsets.tolist() == [0, 2, 2, 5, 6]
    assert offsets_of([]).tolist() == [0]
    chosen = np.array([2, 1, 0, 2])
    assert flat[ragged_positions(offsets, chosen)].tolist() == [4, 1, 5, 3, 1, 4, 1, 5]


def test_equal_rows_have_equal_keys_and_only_these() -> None:
    """Keys tell rows apart, also where a product of the columns would not fit 64 bits."""
    base = 2**40
    rows = np.random.default_rng(0).integers(base - 2, base, (200, 5))
    keys = row_keys(rows, base)
    assert len(np.unique(keys)) == len(np.unique(rows, axis=0))
    same = (rows[:, None] == rows[None]).all(axis=2)
    assert np.array_equal(keys[:, None] == keys[None], same)


@pytest.mark.parametrize("seed", range(30))
def test_columns_are_what_the_tables_say(seed: int) -> None:
    """Strides, unary sums, ranges and the constant are those that NumPy's tables give factor by factor."""
    problem = random_problem(seed, maximize=False)
    strides = [stride // 8 for factor in problem.factors for stride in factor.table.strides]
    sizes = problem.domain_sizes[problem.scope_variables]
    assert (cell_strides(problem) == np.array(strides, dtype=np.int64))[sizes > 1].all()
    costs, starts = unary_costs(problem)
    for variable in range(problem.num_variables):
        own = [factor.table for factor in problem.factors if factor.scope == (variable,)]
        assert costs[starts[variable] : starts[variable + 1]] == pytest.approx(
            np.sum([*own, np.zeros(problem.domain_sizes[variable])], axis=0)
        )
    lowest, ranges = table_ranges(problem)
    for factor in problem.factors:
        finite = factor.table[np.isfinite(factor.table)]
        table = problem.factor_table[factor.index]
        assert lowest[table] == (finite.min() if finite.size else 0.0)
        assert ranges[table] == (np.ptp(finite) if finite.size else 0.0)
    nullary = [float(factor.table) for factor in problem.factors if factor.arity == 0]
    assert nullary_constant(problem) == pytest.approx(problem.constant + sum(nullary))


def test_distinct_entries() -> None:
    """As NumPy finds them, in order; also of nothing."""
    for size in (0, 1, 2, 50):
        keys = np.random.default_rng(size).integers(-5, 5, size)
        assert distinct(keys).tolist() == np.unique(keys).tolist()


def test_unary_costs_that_lie_one_after_the_other() -> None:
    """One unary factor a variable, in their order: the same sums, as copies that may be changed."""
    tables = [np.arange(2.0), np.arange(3.0, 6.0), np.array([7.0])]
    pool = np.concatenate([[9.0], *tables])
    problem = Problem([2, 3, 1], [0, 1, 2], [0, 1, 2, 3], pool, [0, 1, 3, 6, 7], [1, 2, 3])
    costs, starts = unary_costs(problem)
    assert costs.tolist() == [0, 1, 3, 4, 5, 7]
    assert starts.tolist() == [0, 2, 5, 6]
    costs[:] = 0.0
    assert problem.pool.tolist() == pool.tolist()


@pytest.mark.parametrize("shape", [(0, 3), (1, 0), (5, 0), (1, 4), (300, 1), (700, 256), (3, 100_000)])
def test_equal_rows_are_found_once(shape: tuple[int, int]) -> None:
    """Against a dictionary by bytes: 0 and −0 differ, infinities are equal, and the first of each set comes first."""
    rng = np.random.default_rng(shape)
    rows = rng.choice([0.0, -0.0, np.inf, 1.5], (4, shape[1]))[rng.integers(0, 4, shape[0])]
    first, same = different_rows(rows)
    seen: dict[bytes, int] = {}
    for row in rows:
        seen.setdefault(row.tobytes(), len(seen))
    assert same.tolist() == [seen[row.tobytes()] for row in rows]
    assert first.tolist() == [same.tolist().index(number) for number in range(len(seen))]


def test_rows_whose_hashes_agree_are_told_apart() -> None:
    """Two rows made to have one hash stay two."""

    def unmixed(word: int) -> int:
        top = word >> 35 << 35
        middle = (word ^ (top >> 29)) >> 6 << 6
        return word ^ (middle >> 29)

    start = np.random.default_rng(1).integers(0, 2**60, 2).tolist()
    drawn = np.random.default_rng(0).integers(0, 2**63, 2, dtype=np.uint64).tolist()
    first, second = (2 * weight + 1 for weight in drawn)
    other = [(start[0] + second) % 2**64, (start[1] - first) % 2**64]
    bits = np.array([[unmixed(word) for word in row] for row in (start, other)], dtype=np.uint64)
    assert len(set(_row_hashes(bits).tolist())) == 1
    assert different_rows(bits.view(np.float64))[1].tolist() == [0, 1]


def test_own_costs_are_looked_at_where_they_lie() -> None:
    """Equal to `unary_costs`, which may be changed; where the pool holds them as they are, nothing is copied."""
    plain = Problem([2, 3], [0, 1], [0, 1, 2], np.arange(5.0), [0, 2, 5])
    costs, starts = own_costs(plain)
    assert np.shares_memory(costs, plain.pool)
    assert not costs.flags.writeable
    assert unary_costs(plain)[0].flags.writeable
    twice = Problem([2, 3], [0, 1, 1], [0, 1, 2, 3], np.arange(8.0), [0, 2, 5, 8])
    for problem in (plain, twice):
        for mine, theirs in zip(own_costs(problem), unary_costs(problem), strict=True):
            assert (mine == theirs).all()
    assert starts.tolist() == [0, 2, 5]


def test_cheapest_values_are_found_once_and_given_away() -> None:
    """Who changes them changes nothing for others."""
    problem = Problem([2, 3], [0, 1], [0, 1, 2], [3.0, 1.0, 2.0, 2.0, 5.0], [0, 2, 5])
    cheapest_values(problem)[:] = 9
    assert cheapest_values(problem).tolist() == [1, 0]
