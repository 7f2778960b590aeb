"""The semidefinite bound: never above the optimum, and at the values of the literature."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.problem.quadratic_function import Quadratic, cut_problem, problem_of
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.semidefinite.semidefinite import SemidefiniteSearch
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem


def ended(problem: Problem, **params: float) -> tuple[SemidefiniteSearch, Status]:
    """A search after its last step, and how it ended."""
    search = make_solver("semidefinite", params).start(problem, seed=0, budget=Budget())
    assert isinstance(search, SemidefiniteSearch)
    while (step := search.step()).finished is None:
        pass
    return search, step.finished


def drawn(seed: int) -> Problem:
    """A quadratic function of up to ten two-valued variables, of integers or of real numbers of any size."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 11))
    rows, columns = np.triu_indices(count, 1)
    kept = rng.random(len(rows)) < rng.random()
    size = 10.0 ** rng.integers(-4, 5)
    numbers = rng.integers(-9, 10, count + len(rows)) * 1.0 if seed % 2 else rng.normal(0, size, count + len(rows))
    spin = bool(rng.integers(2))
    return problem_of(Quadratic(numbers[:count], rows[kept], columns[kept], numbers[count:][kept], 0.5, spin))


def test_never_above_the_optimum() -> None:
    """A bound is a promise: on 1,000 functions it is at most the least cost by enumeration, and often equal."""
    proved = 0
    for seed in range(1_000):
        problem = drawn(seed)
        search, status = ended(problem)
        optimum = exhaustive_optimum(problem)
        assert optimum is not None
        assert search.bound <= optimum + 1e-12 * abs(optimum), seed
        proved += status is Status.OPTIMAL
        if status is Status.OPTIMAL:
            assert search.bound >= optimum - problem.facts.rounding(optimum), seed
    assert proved > 250  # the relaxation is tight on more than a quarter of them


def test_never_above_the_optimum_of_mixed_problems() -> None:
    """Other domains, other arities and forbidden combinations only make the bound weaker."""
    for seed in range(150):
        problem = random_problem(seed)
        if problem.maximize:
            problem = problem.replace(pool=-problem.pool, constant=-problem.constant, maximize=False)
        optimum = exhaustive_optimum(problem)
        search, _ = ended(problem)
        assert optimum is None or search.bound <= optimum + 1e-9


def test_a_cycle_of_five_has_the_known_value() -> None:
    """The relaxation of the largest cut of a 5-cycle is 5/2 (1 + cos(π/5)) (Goemans & Williamson)."""
    ring, weight = np.arange(5), 0.7
    problem = cut_problem(5, ring, (ring + 1) % 5, np.full(5, weight)).replace(maximize=False)
    search, _ = ended(problem.replace(pool=-problem.pool), tolerance=1e-7)
    assert search.bound == pytest.approx(-weight * 2.5 * (1 + np.cos(np.pi / 5)), rel=1e-5)


def test_a_bipartite_torus_is_proved() -> None:
    """Vectors and hyperplane find the cut of all edges, and the bound meets it."""
    side = 6
    at = np.arange(side * side)
    right, down = at // side * side + (at + 1) % side, (at + side) % (side * side)
    problem = cut_problem(len(at), np.tile(at, 2), np.concatenate([right, down]), np.ones(2 * len(at)))
    search, status = ended(problem.replace(pool=-problem.pool, maximize=False))
    assert (search.bound, status) == (-2.0 * side * side, Status.OPTIMAL)
