"""Classes of variables that share no factor."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.local_costs import colouring
from dabp.solvers.local_costs.colouring import classes_of, in_classes
from tests.problems import exhaustive_optimum, random_problem


@pytest.fixture(autouse=True)
def _small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(colouring, "LARGE", 1)
    monkeypatch.setattr(colouring, "FEWEST", 0)


def _class_of_each(problem: Problem) -> np.ndarray:
    classes = classes_of(problem)
    assert classes is not None
    assert sorted(classes.order) == list(range(problem.num_variables))
    of_each = np.empty(problem.num_variables, dtype=np.int64)
    of_each[classes.order] = np.repeat(np.arange(len(classes.starts) - 1), np.diff(classes.starts))
    return of_each


@pytest.mark.parametrize("seed", range(30))
def test_variables_of_a_class_share_no_factor(seed: int) -> None:
    """Whatever the arities; and the problem in their order costs the same."""
    problem = random_problem(seed, max_variables=12)
    of_each = _class_of_each(problem)
    for f in range(problem.num_factors):
        scope = problem.scope(f)
        assert len(set(of_each[scope])) == len(scope)
    classes = classes_of(problem)
    inside = in_classes(problem, classes)
    values = np.random.default_rng(seed).integers(0, problem.domain_sizes)
    assert inside.cost(values[classes.order]) == problem.cost(values)


def test_a_grid_has_two() -> None:
    """Found in the order of rows, as on a board of chess."""
    side, table = 7, np.zeros((2, 2))
    places = np.arange(side * side).reshape(side, side)
    pairs = [*zip(places[:, 1:].ravel(), places[:, :-1].ravel(), strict=True)]
    pairs += [*zip(places[1:].ravel(), places[:-1].ravel(), strict=True)]
    grid = Problem.from_tables([2] * side * side, [((int(i), int(j)), table) for i, j in pairs])
    assert np.array_equal(_class_of_each(grid), np.indices((side, side)).sum(axis=0).ravel() % 2)


def test_not_where_it_does_not_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few variables, small classes, more classes than there are colours."""
    apart = Problem([2] * 100)
    assert len(classes_of(apart).starts) == 2
    monkeypatch.setattr(colouring, "LARGE", 101)
    assert classes_of(apart) is None
    monkeypatch.setattr(colouring, "LARGE", 100)
    clique = Problem.from_tables([2] * 100, [(p, np.zeros((2, 2))) for p in itertools.combinations(range(100), 2)])
    assert classes_of(clique) is None
    pair = Problem.from_tables([2] * 100, [((3, 5), np.zeros((2, 2)))])
    monkeypatch.setattr(colouring, "FEWEST", 51)
    assert classes_of(pair) is None
    assert in_classes(pair, None) is pair


@pytest.mark.parametrize("solver", ["annealing", "tabu", "tempering"])
@pytest.mark.parametrize("seed", range(10))
def test_searches_in_classes_find_the_optimum(seed: int, solver: str) -> None:
    """Any arity, domain, direction and forbidden combination; all searches move on the same table."""
    problem = random_problem(seed)
    optimum = exhaustive_optimum(problem)
    result = dabp.solve(problem, solver, max_iterations=2000, seed=seed, presolve=False)
    assert result.cost == (None if optimum is None else pytest.approx(optimum, abs=1e-9))


@pytest.mark.parametrize("domain", [2, 5])
def test_resumes_bit_for_bit_and_takes_offers(domain: int) -> None:
    """Checkpoints and offers are in the problem's own order."""
    problem = dabp.generate("random-cop", variables=40, domain=domain, density=0.1, seed=8)
    budget = Budget(max_iterations=400)
    first, second = (make_solver("annealing").start(problem, seed=1, budget=budget) for _ in range(2))
    first.step()
    second.load_state_dict(first.state_dict())
    traces = [np.concatenate([search.step().costs for _ in range(20)]) for search in (first, second)]
    shorter = min(map(len, traces))
    assert shorter > 0
    assert np.array_equal(traces[0][:shorter], traces[1][:shorter])
    best = dabp.solve(problem, "annealing", max_iterations=1000, seed=0, presolve=False)
    again = dabp.solve(problem, "annealing", max_iterations=1, seed=9, initial=best.assignment, presolve=False)
    assert again.cost == best.cost
