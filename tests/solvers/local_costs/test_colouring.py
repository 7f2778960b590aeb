"""Classes of variables that share no factor."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.local_costs import colouring
from dabp.solvers.local_costs.colouring import classes_of, in_classes
from tests.problems import random_problem


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
