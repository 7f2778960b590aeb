"""Presolve is exact: same optimum with and without it, and the way back finds it."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.driver.solve import solve
from dabp.graph.components import component, component_labels
from dabp.presolve import presolve
from dabp.presolve.consistency import supported_values
from dabp.presolve.dominance import undominated_values
from dabp.presolve.joining import join_cliques
from dabp.presolve.merging import merge_factors
from dabp.presolve.restriction import Restricted
from dabp.problem import Problem
from tests.problems import all_assignments, drawn_problem, exhaustive


@pytest.mark.parametrize("block", range(6))
def test_the_optimum_stays_on_drawn_problems(block: int) -> None:
    """The presolved optimum, lifted, is the optimum; infeasible is only said when it is so."""
    for seed in range(block * 250, block * 250 + 250):
        rng = np.random.default_rng(seed)
        problem = drawn_problem(rng, integral=seed % 2 == 0, hard=[0.2, 0.5][block % 2], dense=seed % 4 == 0)
        optimum, _ = exhaustive(problem)
        reduced = presolve(problem, solve_small=seed % 5 == 0)
        if reduced.infeasible:
            assert optimum == np.inf
            continue
        least, best = exhaustive(reduced.problem)
        assert least == pytest.approx(optimum)
        lifted = reduced.lift(best)
        assert problem.cost(lifted) == pytest.approx(optimum)
        projected = reduced.project(lifted)
        assert ((projected >= 0) & (projected < reduced.problem.domain_sizes)).all()


def test_a_projected_assignment_never_costs_more() -> None:
    """A feasible warm start stays feasible and as good: each removed value gives way to the one that replaces it."""
    removed = 0
    for seed in range(300):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.3, dense=seed % 2 == 0)
        rows = all_assignments(problem)
        rows = rows[np.isfinite(problem.cost(rows))][:100]
        kept, replacement = undominated_values(problem)
        removed += int((~kept).sum())
        for reduced in (Restricted(problem, kept, replacement), presolve(problem, solve_small=False)):
            projected = [reduced.project(row) for row in rows]
            assert not projected or (reduced.problem.cost(projected) <= problem.cost(rows) + 1e-9).all()
    assert removed > 100


def test_a_value_gives_way_to_the_last_of_those_that_replace_each_other() -> None:
    """Value 3 replaces 2, which has replaced 1: both project to 3, although 0 is the first value that stays."""
    other = [0.0, 9.0, 9.0, 9.0]
    dear = [[9.0, 7.0, 7.0, 7.0], [9.0, 6.0, 6.0, 6.0], [9.0, 5.0, 5.0, 5.0]]
    problem = Problem([4, 4], [1, 0], [0, 2], np.transpose([other, *dear]).ravel(), [0, 16])
    kept, replacement = undominated_values(problem)
    assert kept[:4].tolist() == [True, False, False, True]
    assert replacement[:4].tolist() == [0, 3, 3, 3]
    assert Restricted(problem, kept, replacement).project(np.array([1, 0]))[0] == 1


@pytest.mark.parametrize("maximize", [False, True])
def test_the_named_problem_keeps_the_limit(maximize: bool) -> None:
    """What a file asks of the total is still asked, with its sign, of the problem that `dabp presolve` writes."""
    costs = np.array([0.0, 2.0, 5.0, 9.0])
    pool = -costs if maximize else costs
    problem = Problem([2, 2, 1], [0, 1, 2], [0, 3], pool, [0, 4], limit=1000.0, maximize=maximize)
    named = presolve(problem, solve_small=False).named()
    assert (named.limit, named.maximize) == (1000.0, maximize)


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


def test_named_problem_has_the_costs_names_and_labels_of_the_original() -> None:
    """What `dabp presolve` writes means the same as the original, also when maximising."""
    for seed in range(60):
        problem = drawn_problem(np.random.default_rng(seed), dense=True)
        labels = [tuple(f"v{value}" for value in range(d)) for d in problem.domain_sizes]
        names = [f"name{i}" for i in range(problem.num_variables)]
        problem = problem.replace(
            pool=-problem.pool, constant=-problem.constant, maximize=True, variable_names=names, labels=labels
        )
        reduced = presolve(problem, solve_small=False)
        if reduced.infeasible:
            continue
        named = reduced.named()
        assert named.maximize
        some = np.zeros(named.num_variables, dtype=np.int64)
        values = problem.labelled(reduced.lift(some))
        assert named.labelled(some).items() <= values.items()
        assert named.cost(some) <= problem.cost(reduced.lift(some)) + 1e-9


def test_a_problem_without_a_solution_is_proved_infeasible_by_propagation() -> None:
    """Of three variables with two values each, x < y < z has no solution: found by arc consistency alone."""
    less = np.array([[np.inf, 0.0], [np.inf, np.inf]])
    problem = Problem([2, 2, 2], [0, 1, 1, 2], [0, 2, 4], np.tile(less.ravel(), 2), [0, 4, 8])
    assert supported_values(problem) is None
    reduced = presolve(problem)
    assert reduced.infeasible
    assert "no feasible" in reduced.summary[0]


def test_dominated_values_go() -> None:
    """A value that is dearer everywhere is removed, and with it here everything else."""
    rng = np.random.default_rng(1)
    tables = []
    for _ in range(10):
        table = rng.integers(0, 5, (3, 3)).astype(float)
        table[2] += 20
        table[:, 2] += 20
        tables.append(table.ravel())
    scope = [(i, j) for i in range(5) for j in range(i)]
    problem = Problem([3] * 5, np.ravel(scope), np.arange(0, 21, 2), np.concatenate(tables), np.arange(0, 91, 9))
    reduced = presolve(problem, solve_small=False)
    assert reduced.facts.dominated_values >= 5
    assert (reduced.problem.domain_sizes <= 2).all()


@pytest.mark.parametrize(
    "problem",
    [
        Problem([]),
        Problem([], [], [0, 0], [3.0], [0, 1], constant=1.0),
        Problem([1, 1, 1]),
        Problem([4]),
        Problem([4], [0], [0, 1], [3.0, 1.0, 2.0, np.inf], [0, 4]),
        Problem([1, 3], [0, 1], [0, 2], [3.0, 1.0, 2.0], [0, 3]),
    ],
)
def test_degenerate_problems_vanish(problem: Problem) -> None:
    """No variables, no factors, one variable, domains of one value: all solved outright."""
    reduced = presolve(problem)
    assert reduced.problem.num_variables == 0
    assert problem.cost(reduced.lift(np.zeros(0, dtype=np.int64))) == exhaustive(problem)[0]


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


def test_components_add_up() -> None:
    """The cost of the whole is the constant and the costs of its components."""
    rng = np.random.default_rng(3)
    parts = [drawn_problem(np.random.default_rng(seed), dense=True, hard=0.0) for seed in range(4)]
    first = np.cumsum([0] + [p.num_variables for p in parts])
    whole = Problem(
        np.concatenate([p.domain_sizes for p in parts]),
        np.concatenate([p.scope_variables + shift for p, shift in zip(parts, first[:-1], strict=True)]),
        np.concatenate([[0], np.cumsum(np.concatenate([p.arities for p in parts]))]),
        np.concatenate([p.pool for p in parts]),
        np.concatenate([[0], np.cumsum(np.concatenate([np.diff(p.pool_offsets) for p in parts]))]),
    )
    labels, count = component_labels(whole)
    assert count == 4
    values = rng.integers(0, whole.domain_sizes)
    total = sum(t for f in range(whole.num_factors) if whole.arities[f] == 0 for t in whole.table(f).ravel())
    for which in range(count):
        part, variables = component(whole, labels, np.array([which]))
        total += part.cost(values[variables])
    assert total == pytest.approx(whole.cost(values))


@pytest.mark.parametrize("largest", [3, 4])
def test_joining_cliques_keeps_every_cost(largest: int) -> None:
    """Binary factors joined along cliques cost the same together, in fewer factors."""
    fewer = 0
    for seed in range(60):
        problem = merge_factors(drawn_problem(np.random.default_rng(seed), dense=True))
        joined = join_cliques(problem, largest, 1000)
        rows = all_assignments(problem)
        assert np.allclose(problem.cost(rows), joined.cost(rows))
        assert joined.arities.max() <= max(largest, problem.arities.max())
        fewer += joined.num_factors < problem.num_factors
    assert fewer > 40
