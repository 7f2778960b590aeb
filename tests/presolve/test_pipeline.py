"""Presolve is exact: same optimum with and without it, and the way back finds it."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.presolve import presolve
from dabp.presolve.dominance import undominated_values
from dabp.presolve.pipeline import Facts
from dabp.presolve.restriction import Restricted
from dabp.problem import Problem
from dabp.problem.guard import Guard
from tests.presolve.shapes import checked
from tests.problems import all_assignments, drawn_problem, exhaustive, random_problem


@pytest.mark.parametrize("block", range(6))
def test_the_optimum_stays_on_drawn_problems(block: int) -> None:
    """The presolved optimum, lifted, is the optimum; infeasible is only said when it is so."""
    for seed in range(block * 250, block * 250 + 250):
        rng = np.random.default_rng(seed)
        problem = drawn_problem(rng, integral=seed % 2 == 0, hard=[0.2, 0.5][block % 2], dense=seed % 4 == 0)
        checked(problem, solve_small=seed % 5 == 0)


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


@pytest.mark.parametrize("maximize", [False, True])
def test_the_named_problem_keeps_the_limit(maximize: bool) -> None:
    """What a file asks of the total is still asked, with its sign, of the problem that `dabp presolve` writes."""
    costs = np.array([0.0, 2.0, 5.0, 9.0])
    pool = -costs if maximize else costs
    problem = Problem([2, 2, 1], [0, 1, 2], [0, 3], pool, [0, 4], limit=1000.0, maximize=maximize)
    named = presolve(problem, solve_small=False).named()
    assert (named.limit, named.maximize) == (1000.0, maximize)


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
        values = problem.names.labelled(reduced.lift(some))
        assert named.names.labelled(some).items() <= values.items()
        assert named.cost(some) <= problem.cost(reduced.lift(some)) + 1e-9


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


def test_large_problems_are_not_rebuilt_for_little(monkeypatch: pytest.MonkeyPatch) -> None:
    """What would take away a small part is left, a large part is taken, and what comes back is an optimum."""
    monkeypatch.setattr("dabp.presolve.rule.MANY_VALUES", 1)
    untouched = 0
    for seed in range(200):
        problem = drawn_problem(np.random.default_rng(seed), hard=0.2 * (seed % 2), dense=seed % 4 == 0)
        reduced = checked(problem, solve_small=seed % 5 == 0)
        untouched += not reduced.infeasible and reduced.problem.num_variables == problem.num_variables
    assert 0 < untouched < 200
    monkeypatch.setattr("dabp.presolve.rule.NEGLIGIBLE", 2.0)
    reduced = presolve(dense_pairs(), solve_small=False)
    assert reduced.problem.num_variables == dense_pairs().num_variables


def dense_pairs() -> Problem:
    """A path with random costs: all of it could be eliminated."""
    rng, steps = np.random.default_rng(0), np.arange(10)
    edges = np.stack([steps[:-1], steps[1:]], axis=1)
    return Problem(np.full(10, 3), edges.ravel(), 2 * steps, rng.integers(0, 99, size=81), 9 * steps)


def test_some_variables_are_looked_at_as_all_are() -> None:
    """Which of their values others dominate depends on their own factors only."""
    for seed in range(100):
        rng = np.random.default_rng(seed)
        problem = drawn_problem(rng, dense=seed % 2 == 0)
        some = np.flatnonzero(rng.random(problem.num_variables) < 0.5)
        starts = np.concatenate([[0], np.cumsum(problem.domain_sizes)])
        whole, _ = undominated_values(problem)
        part, _ = undominated_values(problem, None, some)
        mine = np.concatenate([np.arange(starts[v], starts[v + 1]) for v in some]).astype(int) if len(some) else some
        assert part.tolist() == whole[mine].tolist()


def test_a_problem_too_large_for_the_time_is_left_and_said_so() -> None:
    """Not even its components are looked for."""
    problem = random_problem(0, maximize=False)
    step = presolve(problem, guard=Guard(0.0))
    assert step.facts.skipped
    assert "left out" in step.summary[0]


@pytest.mark.parametrize(("count", "words"), [(1, "1 variable fixed, 1 impossible value"), (2, "2 variables fixed")])
def test_one_is_no_plural(count: int, words: str) -> None:
    """In the line that people read."""
    facts = Facts(variables=(9, 8), factors=(3, 2), fixed_variables=count, unsupported_values=count)
    assert words in facts.line()
