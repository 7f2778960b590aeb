"""Assignment bounds: never above the optimum, and proofs that enumeration confirms."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.assignment.assignment import AssignmentSearch
from dabp.solvers.base import Budget
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem


def drawn(seed: int) -> Problem:
    """Five or six variables that must all differ, up to one value to spare, pair and own costs, some more forbidden."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(5, 7))
    size = count + int(rng.integers(2)) * (count == 5)
    tables = []
    for i, j in itertools.combinations(range(count), 2):
        table = rng.integers(-9, 10, (size, size)) * 1.0 if rng.random() < 0.8 else np.zeros((size, size))
        table += rng.random(table.shape) * 10.0 ** rng.integers(-3, 4) if seed % 3 == 1 else 0.0
        if seed % 3 == 2 and rng.random() < 0.1:
            table[int(rng.integers(size))] = np.inf
        np.fill_diagonal(table, np.inf)
        tables.append(((i, j) if rng.random() < 0.7 else (j, i), table))
    tables += [((i,), rng.integers(-9, 10, size) * 1.0) for i in range(count) if rng.random() < 0.5]
    return Problem.from_tables([size] * count, tables)


def best_by_enumeration(problem: Problem) -> float:
    size = int(problem.domain_sizes[0])
    rows = np.array(list(itertools.permutations(range(size), problem.num_variables)))
    return min(float(problem.cost(row)) for row in rows)


def ended(problem: Problem, **params: int) -> tuple[AssignmentSearch, Status, float]:
    """A search after its last step, how it ended and the best cost that it gave."""
    search = make_solver("assignment", params).start(problem, seed=0, budget=Budget())
    assert isinstance(search, AssignmentSearch)
    known = np.inf
    while True:
        step = search.step()
        if step.best is not None:
            assert problem.cost(step.best) == step.best_cost
            known = min(known, step.best_cost)
        if step.finished is not None:
            return search, step.finished, known


def test_every_small_permutation_is_proved() -> None:
    """By enumeration: integers and real costs, more forbidden, values to spare."""
    for seed in range(60):
        problem = drawn(seed)
        optimum = best_by_enumeration(problem)
        search, status, known = ended(problem)
        assert search.bound <= optimum + 1e-9
        assert status is Status.OPTIMAL or seed % 3 == 2, seed  # then it may not see that two of them must differ
        assert status is not Status.OPTIMAL or known == pytest.approx(optimum, abs=1e-9), seed


def test_the_first_bound_is_never_above_the_optimum() -> None:
    """Without ascent: a promise on problems of any size, and more than the sum of the least cells."""
    better = 0
    for seed in range(60):
        problem = drawn(seed)
        optimum = best_by_enumeration(problem)
        search, _, _ = ended(problem, largest=0)
        assert search.bound <= optimum + 1e-9, seed
        trivial = problem.constant + problem.facts.finite_extremes[0][problem.factor_table].sum()
        better += search.bound > trivial + 1e-9
    assert better > 50


def test_other_problems_are_left_alone() -> None:
    """What has no variables that must all differ ends at once; what has more factors gets a valid bound."""
    for seed in range(30):
        problem = random_problem(seed)
        if problem.maximize:
            problem = problem.replace(pool=-problem.pool, constant=-problem.constant, maximize=False)
        optimum = exhaustive_optimum(problem)
        search, status, _ = ended(problem)
        assert optimum is None or search.bound <= optimum + 1e-9
        assert status is Status.CONVERGED or search.bound > -np.inf


def test_variables_beside_the_permutation_only_weaken_the_bound() -> None:
    """A wide factor and another variable: the bound holds, and is not called a proof unless it meets the cost."""
    for seed in range(0, 30, 3):
        base, rng = drawn(seed), np.random.default_rng(seed)
        size = int(base.domain_sizes[0])
        tables = [(tuple(base.scope(f).tolist()), base.table(f)) for f in range(base.num_factors)]
        tables.append(((0, base.num_variables), rng.integers(-9, 10, (size, 3)) * 1.0))
        problem = Problem.from_tables([*base.domain_sizes.tolist(), 3], tables)
        optimum = exhaustive_optimum(problem)
        search, status, known = ended(problem)
        assert optimum is not None
        assert search.bound <= optimum + 1e-9
        assert status is not Status.OPTIMAL or known == optimum
