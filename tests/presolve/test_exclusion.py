"""Values that exclude each other, found in the factors' forbidden cells."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp import Model, Problem
from dabp.presolve.exclusion import PER_VALUE, exclusions


def conflicts(problem: Problem) -> set[frozenset[tuple[int, int]]]:
    """The forbidden pairs of (variable, value), read factor by factor."""
    found = set()
    for factor in range(problem.num_factors):
        scope = problem.scope(factor)
        if len(scope) == 2:
            for a, b in np.argwhere(np.isinf(problem.table(factor))).tolist():
                found.add(frozenset({(int(scope[0]), a), (int(scope[1]), b)}))
    return found


def random_problem(rng: np.random.Generator) -> Problem:
    """Mixed domains, forbidden cells of every density, tables that share a scope in either order, other arities."""
    sizes = rng.integers(1, 5, size=int(rng.integers(2, 9)))
    model = Model()
    names = [f"x{v}" for v in range(len(sizes))]
    for name, size in zip(names, sizes, strict=True):
        model.add_variable(name, int(size))
    density = rng.choice([0.05, 0.3, 0.8, 1.0])
    for _ in range(int(rng.integers(1, 30))):
        scope = rng.permutation(len(sizes))[: min(len(sizes), int(rng.choice([1, 2, 2, 2, 2, 3])))]
        table = rng.integers(0, 9, size=tuple(sizes[scope])).astype(float)
        table[rng.random(table.shape) < density] = np.inf
        table.flat[0] = 0.0
        model.add_cost([names[v] for v in scope], table)
    return model.build()


@pytest.mark.parametrize("seed", range(60))
def test_sets_are_cliques_of_forbidden_pairs(seed: int) -> None:
    """A set that is not implied would make toulbar2 prove what is false."""
    problem = random_problem(np.random.default_rng(seed))
    known = conflicts(problem)
    for exclusion in exclusions(problem):
        assert len(exclusion) > 2
        for x, y in itertools.combinations(exclusion, 2):
            assert all(frozenset({(x, a), (y, b)}) in known for a in exclusion[x] for b in exclusion[y])


def test_what_a_file_states_as_pairs_is_found_whole() -> None:
    """Three cliques of values, stated pair by pair, are three sets."""
    model = Model()
    names = [f"x{v}" for v in range(7)]
    for name in names:
        model.add_variable(name, 3)
    for x, y in itertools.combinations(names, 2):
        model.add_cost([x, y], np.where(np.eye(3) > 0, np.inf, 0.0))
    found = sorted(sorted(e.items()) for e in exclusions(model.build()))
    assert found == [[(v, [value]) for v in range(7)] for value in range(3)]


def test_values_of_one_variable_go_together() -> None:
    """Intervals that overlap exclude each other whatever start is chosen."""
    model = Model()
    for name in "abc":
        model.add_variable(name, 4)
    late = np.arange(4) >= 2
    for x, y in itertools.combinations("abc", 2):
        model.add_cost([x, y], np.where(late[:, None] & late[None, :], np.inf, 1.0))
    assert exclusions(model.build()) == [{0: [2, 3], 1: [2, 3], 2: [2, 3]}]


def test_no_value_is_in_many_sets() -> None:
    """A dense random graph has hundreds of cliques, which would slow toulbar2 down."""
    rng = np.random.default_rng(1)
    model = Model()
    names = [f"x{v}" for v in range(60)]
    for name in names:
        model.add_variable(name, 2)
    for x, y in itertools.combinations(names, 2):
        if rng.random() < 0.5:
            model.add_cost([x, y], np.array([[0.0, 0.0], [0.0, np.inf]]))
    found = exclusions(model.build())
    assert len(found) > 20
    assert sum(map(len, found)) < 2 * PER_VALUE * 60


def test_nothing_forbidden_is_nothing_found() -> None:
    """Soft problems, and problems without pairs, go to toulbar2 as they are."""
    model = Model()
    for name in "abc":
        model.add_variable(name, 2)
    assert exclusions(model.build()) == []
    model.add_cost(["a", "b"], np.ones((2, 2)))
    assert exclusions(model.build()) == []
