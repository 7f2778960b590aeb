"""Variables of small degree, minimised out and read back."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.presolve import elimination, presolve
from dabp.presolve.effort import UNLIMITED, Effort
from dabp.presolve.elimination import Eliminated
from dabp.problem import Problem
from tests.presolve.shapes import ring, shared_pairs


def test_elimination_stops_where_its_budget_ends_and_loses_nothing() -> None:
    """A ring cut short costs what it did: the least closed walk of its length."""
    problem = ring(40, 12)
    table = problem.pool.reshape(12, 12)
    walk = table
    for _ in range(39):
        walk = (walk[:, :, None] + table).min(axis=1)
    effort = Effort(100_000)
    part = Eliminated(problem, effort=effort)
    assert 0 < part.removed < 30
    assert 0 <= effort.left < 100_000
    whole = presolve(part.problem)
    assert whole.problem.constant == walk.diagonal().min()
    assert problem.cost(part.lift(whole.lift(np.zeros(0, dtype=np.int64)))) == walk.diagonal().min()


def test_a_ring_with_large_domains_stays() -> None:
    """Minimising out each of these variables would take millions of operations and a table of its own."""
    reduced = presolve(ring(300, 200))
    assert reduced.problem.num_variables > 200
    assert len(reduced.problem.pool) < 50 * 200**2


def test_leaves_go_before_anything_dearer() -> None:
    """A tree costs no more than a row of its tables each, whatever the order of its variables."""
    count, size = 300, 10
    rng = np.random.default_rng(0)
    parents = (rng.random(count - 1) * np.arange(1, count)).astype(np.int64)
    table = rng.random((size, size))
    problem = shared_pairs(np.stack([parents, np.arange(1, count)], axis=1), table)
    assert Eliminated(problem, effort=Effort(count * size * (2 * size + 16))).removed == count


def test_a_large_tree_vanishes() -> None:
    """A forest of any size is solved by elimination, at the cost it promises."""
    rng = np.random.default_rng(0)
    n = 20_000
    parents = (rng.random(n - 1) * np.arange(1, n)).astype(np.int64)
    scopes = np.stack([parents, np.arange(1, n)], axis=1)
    tables = rng.integers(0, 50, (n - 1) * 9).astype(float)
    problem = Problem(np.full(n, 3), scopes.ravel(), np.arange(0, 2 * n - 1, 2), tables, np.arange(0, 9 * n - 8, 9))
    reduced = presolve(problem)
    assert reduced.problem.num_variables == 0
    assert problem.cost(reduced.lift(np.zeros(0, dtype=np.int64))) == reduced.problem.constant


def test_variables_that_surely_stay_need_no_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at all variables, also those with more neighbours than a table may have, leaves the same problem."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        sizes = rng.integers(2, 4, 14) if seed % 2 else np.full(14, 5)
        pairs = [(i, j) for j in range(14) for i in range(j) if rng.random() < 0.2]
        problem = Problem.from_tables(
            sizes.tolist(), [(pair, rng.integers(0, 9, sizes[list(pair)]) * 1.0) for pair in pairs]
        )
        few = Eliminated(problem)
        with monkeypatch.context() as patched:
            patched.setattr(elimination, "_dear", lambda problem, given: UNLIMITED)
            every = Eliminated(problem)
        assert few.removed == every.removed
        assert few.problem == every.problem
        values = np.array([int(rng.integers(size)) for size in few.problem.domain_sizes])
        assert np.array_equal(few.lift(values), every.lift(values))


def test_factors_need_not_lie_side_by_side() -> None:
    """Unary factors between those of two variables change nothing but the order of the factors that are left."""
    rng = np.random.default_rng(3)
    pairs = [((i, (i + step) % 9), rng.integers(0, 9, (3, 3)) * 1.0) for i in range(9) for step in (1, 2)]
    single = [((i,), rng.integers(0, 9, 3) * 1.0) for i in range(9)]
    apart = Eliminated(Problem.from_tables([3] * 9, [*pairs[:7], *single, *pairs[7:]]), components=True)
    together = Eliminated(Problem.from_tables([3] * 9, [*single, *pairs]), components=True)
    assert apart.removed == together.removed == 9
    assert apart.problem.constant == together.problem.constant
