"""Presolve ends soon on any problem: its work is counted, and what it did when the count ends it is exact."""

from __future__ import annotations

import numpy as np
import pytest

import dabp.presolve.pipeline
from dabp.presolve import presolve
from dabp.presolve.effort import Effort, Efforts
from dabp.presolve.consistency import supported_values
from dabp.presolve.dominance import undominated_values
from dabp.presolve.elimination import Eliminated
from dabp.presolve.restriction import Restricted
from dabp.problem import Problem
from tests.problems import drawn_problem, exhaustive


def shared_pairs(scopes: np.ndarray, table: np.ndarray) -> Problem:
    """Binary factors that all use one square table."""
    count = len(scopes)
    sizes = np.full(int(scopes.max()) + 1, len(table))
    offsets = np.arange(0, 2 * count + 1, 2)
    return Problem(sizes, scopes.ravel(), offsets, table.ravel(), [0, table.size], np.zeros(count, dtype=np.int64))


def ring(count: int, size: int) -> Problem:
    """A cycle with one shared table of random integers."""
    table = np.random.default_rng(0).integers(0, 1000, (size, size)).astype(float)
    return shared_pairs(np.stack([np.arange(count), (np.arange(count) + 1) % count], axis=1), table)


def ascending(count: int, size: int) -> Problem:
    """A chain of variables, each less than the next, the factors in an order that suits nobody."""
    less = np.where(np.arange(size)[:, None] < np.arange(size), 0.0, np.inf)
    order = np.random.default_rng(0).permutation(count - 1)
    return shared_pairs(np.stack([order, order + 1], axis=1), less)


def test_elimination_stops_where_its_budget_ends_and_loses_nothing() -> None:
    """A ring cut short costs what it did: the least closed walk of its length."""
    problem = ring(40, 12)
    table = problem.pool.reshape(12, 12)
    walk = table
    for _ in range(39):
        walk = (walk[:, :, None] + table).min(axis=1)
    effort = Effort(100_000)
    part = Eliminated(problem, effort=effort)
    assert 0 < part.count < 30
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
    assert Eliminated(problem, effort=Effort(count * size * (2 * size + 16))).count == count


def test_dominance_stops_within_a_variable() -> None:
    """A single variable of many values does not take all the time there is; what went is still replaced rightly."""
    size = 200
    table = np.repeat(np.arange(size, 0.0, -1.0)[:, None], size, axis=1) + np.eye(size) * 0.5
    problem = shared_pairs(np.array([[0, 1]]), table)
    assert undominated_values(problem)[0][:size].sum() == 1
    effort = Effort(size * size + 5000)
    kept, replacement = undominated_values(problem, effort)
    assert 1 < kept[:size].sum() < size
    assert kept[:size][replacement[:size]].all()
    assert effort.left == 0


@pytest.mark.parametrize("work", [0, 30, 100, 300])
def test_any_budget_is_exact(work: int) -> None:
    """Whenever a technique is stopped, the optimum is still there at the same cost."""
    for seed in range(100):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.3, dense=seed % 2 == 0)
        optimum, _ = exhaustive(problem)
        supported = supported_values(problem, Effort(work))
        if supported is None:
            assert optimum == np.inf
            continue
        assert exhaustive(Restricted(problem, supported).problem)[0] == pytest.approx(optimum)
        kept, replacement = undominated_values(problem, Effort(work))
        assert exhaustive(Restricted(problem, kept, replacement).problem)[0] == pytest.approx(optimum)
        eliminated = Eliminated(problem, effort=Effort(work))
        if eliminated.infeasible:
            assert optimum == np.inf
        else:
            assert exhaustive(eliminated.problem)[0] == pytest.approx(optimum)


@pytest.mark.parametrize("work", [20, 100, 500])
def test_presolve_is_exact_on_any_budget(work: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also together: a contradiction that propagation had no time to see is not lost later."""

    def small(problem: Problem) -> Efforts:
        efforts = Efforts(problem)
        efforts.propagation, efforts.elimination, efforts.dominance = (Effort(work) for _ in range(3))
        efforts.rounds.left = work
        return efforts

    monkeypatch.setattr(dabp.presolve.pipeline, "Efforts", small)
    for seed in range(300):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.5, dense=seed % 2 == 0)
        optimum, _ = exhaustive(problem)
        reduced = presolve(problem, solve_small=seed % 3 == 0)
        if reduced.infeasible:
            assert optimum == np.inf
            continue
        least, best = exhaustive(reduced.problem)
        assert least == pytest.approx(optimum)
        assert problem.cost(reduced.lift(best)) == pytest.approx(optimum)


def test_propagation_reads_each_table_a_few_times_only() -> None:
    """Along a chain of x < y every bound moves many times; the work is still a few looks at each cell."""
    count, size = 40, 100
    effort = Effort()
    before = effort.left
    kept = supported_values(ascending(count, size), effort)
    values = np.arange(size)
    expected = [(values >= i) & (values <= size - count + i) for i in range(count)]
    assert kept is not None
    assert np.array_equal(kept, np.concatenate(expected))
    assert before - effort.left < 8 * (count - 1) * size**2


def test_propagation_removes_all_that_is_inconsistent() -> None:
    """The same values as a plain fixpoint over dense tables."""
    for seed in range(200):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.6, dense=seed % 2 == 0)
        alive = [np.ones(size, dtype=bool) for size in problem.domain_sizes]
        changed, empty = True, False
        while changed and not empty:
            changed = False
            for factor in problem.factors:
                possible = np.isfinite(factor.table)
                for axis, variable in enumerate(factor.scope):
                    possible = possible & np.expand_dims(
                        alive[variable], [k for k in range(possible.ndim) if k != axis]
                    )
                empty = empty or not possible.any()
                for axis, variable in enumerate(factor.scope):
                    some = possible.any(axis=tuple(k for k in range(possible.ndim) if k != axis))
                    changed = changed or bool((some != alive[variable]).any())
                    alive[variable] = some
        kept = supported_values(problem)
        if empty:
            assert kept is None
        else:
            assert kept is not None
            assert np.array_equal(kept, np.concatenate([*alive, np.zeros(0, dtype=bool)]))
