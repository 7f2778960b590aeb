"""Factors folded into each other."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.presolve.joining import join_cliques
from dabp.presolve.merging import merge_factors
from dabp.presolve.restriction import Restricted
from dabp.problem import Problem
from tests.problems import all_assignments, drawn_problem


def test_merging_keeps_every_cost_and_leaves_no_nested_scope() -> None:
    """Merging is an identity on costs, and no scope is left inside another."""
    for seed in range(100):
        problem = drawn_problem(np.random.default_rng(seed), dense=seed % 2 == 0)
        merged = merge_factors(problem)
        rows = all_assignments(problem)
        assert np.allclose(problem.cost(rows), merged.cost(rows))
        scopes = [set(merged.scope(f).tolist()) for f in range(merged.num_factors)]
        larger = [s for s in scopes if len(s) > 1]
        assert not any(a <= b for i, a in enumerate(larger) for j, b in enumerate(larger) if i != j)
        assert len({min(s) for s in scopes if len(s) == 1}) == sum(len(s) == 1 for s in scopes)


def test_without_folding_only_scopes_are_merged() -> None:
    """Flat tables stay where nothing shares a scope, and the costs are the same where something does."""
    flat = Problem([2, 2], [0, 0, 1], [0, 1, 3], np.array([5.0, 5.0, 1.0, 1.0, 1.0, 1.0]), [0, 2, 6])
    assert merge_factors(flat, folding=False) is flat
    assert merge_factors(flat).num_factors == 0
    twice = Problem([2, 2], [0, 1, 1, 0], [0, 2, 4], np.arange(8.0), [0, 4, 8])
    merged = merge_factors(twice, folding=False)
    assert merged.num_factors == 1
    rows = all_assignments(twice)
    assert np.allclose(twice.cost(rows), merged.cost(rows))


def test_merging_does_not_unshare_large_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two tables that all pairs share stay two where a sum for each pair would take too much memory."""
    rng, size, count = np.random.default_rng(0), 6, 20
    pairs = np.repeat([(i, i + 1) for i in range(count)], 2, axis=0)
    table = np.tile([0, 1], count)
    problem = Problem(
        [size] * (count + 1),
        np.concatenate([pairs.ravel(), [0, 1, 2]]),
        [*range(0, 4 * count + 1, 2), 4 * count + 3],
        rng.integers(0, 100, 2 * size**2 + size**3),
        [0, size**2, 2 * size**2, 2 * size**2 + size**3],
        [*table, 2],
    )
    rows = rng.integers(0, size, (50, count + 1))
    assert merge_factors(problem).num_factors == count - 1  # the triple takes in two pairs, the others are added up
    monkeypatch.setattr("dabp.presolve.merging.MERGED_CELLS", 0)
    monkeypatch.setattr("dabp.presolve.merging.MAX_UNSHARING", 2)
    partly = merge_factors(problem)
    assert len(partly.pool) <= 3 * len(problem.pool)
    assert problem.num_factors > partly.num_factors > count - 1
    assert np.array_equal(partly.cost(rows), problem.cost(rows))
    monkeypatch.setattr("dabp.presolve.merging.MAX_UNSHARING", 0)
    assert merge_factors(problem) == problem
    assert join_cliques(problem, 4, 10_000) is problem
    for solver in ("auto", "dual"):
        assert solve(problem, solver, max_iterations=50).bound <= problem.cost(rows).min()


def test_scopes_may_be_longer_than_any_table_is_deep() -> None:
    """Variables with one value cost no cells, so a scope of 92 is legal: merged and restricted like any other."""
    sizes = [2, 2, *[1] * 90]
    scopes = np.concatenate([np.arange(92), np.arange(92)[::-1]])
    costs = [0.0, 3.0, 5.0, 1.0, 2.0, 2.0, 7.0, 0.0]
    problem = Problem(sizes, scopes, [0, 92, 184], costs, [0, 4, 8])
    merged = merge_factors(problem)
    rows = np.zeros((4, 92), dtype=np.int64)
    rows[:, :2] = [(0, 0), (0, 1), (1, 0), (1, 1)]
    assert merged.num_factors == 1
    assert np.array_equal(merged.cost(rows), problem.cost(rows))
    kept = np.ones(94, dtype=bool)
    kept[0] = False
    restricted = Restricted(merged, kept)
    assert [restricted.problem.cost([value]) for value in (0, 1)] == [problem.cost(rows[2]), problem.cost(rows[3])]
