"""What follows a soft run: descents, forests, and islands of the best so far."""

import numpy as np

import dabp
from dabp.lab.generators import generate
from dabp.problem.guard import Guard
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.polishing import ITERATIONS, Polish
from dabp.solvers.descent import descended


def test_forests_go_on_where_descent_ends() -> None:
    """On a grid, the same for the same seed and run; with iterations for no move there is only the descent."""
    problem = generate("ising", row_count=20, col_count=20, seed=3)
    start = np.random.default_rng(0).integers(0, 2, 400)
    local = descended(problem, start, Guard())
    polish = Polish(problem, 5, Budget())
    assert np.array_equal(polish.polished(start, 0, ITERATIONS - 1), local)
    moved = polish.polished(start, 0, 40 * ITERATIONS)
    assert problem.cost(moved) < problem.cost(local)
    assert np.array_equal(moved, Polish(problem, 5, Budget()).polished(start, 0, 40 * ITERATIONS))


def test_dense_problems_are_only_descended() -> None:
    """A forest would be small, and two answers differ on one island."""
    problem = generate("random-cop", variables=220, density=0.1, domain=3, seed=0)
    start = np.random.default_rng(1).integers(0, 3, 220)
    polish = Polish(problem, 0, Budget())
    assert np.array_equal(polish.polished(start, 0, 10**4), descended(problem, start, Guard()))
    assert not polish.sparse


def test_runs_are_put_together() -> None:
    """Five runs on a grid: what is told at the end is below the best of them, and the same with any threads."""
    problem = generate("ising", row_count=40, col_count=40, seed=3)
    params = {"restarts": 5, "iterations": 40}
    result = dabp.solve(problem, "bp-learned", params=params, seed=1)
    assert result.cost < min(record["cost"] for record in result.trace.records)
    assert result.cost == dabp.solve(problem, "bp-learned", params=params, seed=1, threads=2).cost
