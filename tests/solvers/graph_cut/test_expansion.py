"""Expansion moves as a solver."""

from __future__ import annotations

import numpy as np

import dabp
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.graph_cut.expansion import Expansion
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem


def test_binary_submodular_problems_are_solved() -> None:
    """With two values one cut decides all; against exhaustive search."""
    for seed in range(60):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 9))
        tables = [((i,), rng.integers(0, 20, 2) * 1.0) for i in range(n)]
        for _ in range(2 * n):
            i, j = rng.permutation(n)[:2].tolist()
            tables.append(((i, j), np.array([[0.0, rng.integers(0, 15)], [rng.integers(0, 15), 0.0]])))
        problem = Problem.from_tables([2] * n, tables)
        result = dabp.solve(problem, Expansion(), max_iterations=1000)
        assert result.status is Status.CONVERGED
        assert result.cost == exhaustive_optimum(problem)


def test_no_single_expansion_improves_the_answer() -> None:
    """What it ends with is best among all assignments that differ from it by one value for any set of variables."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        apart = np.abs(np.subtract.outer(np.arange(3), np.arange(3)))
        n = 6
        tables = [((i,), rng.integers(0, 20, 3) * 1.0) for i in range(n)]
        tables += [((i, j), rng.integers(1, 9) * np.minimum(apart, 1.0)) for i in range(n) for j in range(i)]
        problem = Problem.from_tables([3] * n, tables)
        result = dabp.solve(problem, Expansion(), max_iterations=1000)
        moves = np.indices([2] * n).reshape(n, -1).T.astype(bool)
        for alpha in range(3):
            assert problem.cost(np.where(moves, alpha, result.assignment)).min() >= result.cost


def test_forbidden_combinations() -> None:
    """An infeasible start is left where cuts can leave it, and infeasible answers are never told as feasible."""
    found = 0
    for seed in range(200):
        problem = random_problem(seed, maximize=False)
        result = dabp.solve(problem, Expansion(), max_iterations=200)
        optimum = exhaustive_optimum(problem)
        assert result.cost is None or (optimum is not None and result.cost >= optimum - 1e-9)
        found += result.cost is not None
    assert found > 100


def test_offers_are_fused() -> None:
    """An assignment from elsewhere is mixed in: the answer is at least as good as both."""
    rng = np.random.default_rng(1)
    n = 30
    tables = [((i,), rng.integers(0, 50, 4) * 1.0) for i in range(n)]
    tables += [((i, i + 1), rng.integers(0, 50, (4, 4)) * 1.0) for i in range(n - 1)]
    problem = Problem.from_tables([4] * n, tables)
    best = dabp.solve(problem, "auto", max_iterations=100)
    search = Expansion().start(problem, seed=0, budget=Budget())
    search.offer(best.assignment, best.cost)
    step = search.step()
    while step.finished is None:
        step = search.step()
    assert step.best_cost == best.cost
