"""Forest neighbourhoods: exact on forests, never worse without heat, the same for the same seed."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.local_search.forest_lns import ForestLNS
from tests.problems import drawn_problem, exhaustive


def test_one_move_solves_a_tree() -> None:
    """The forest is then the whole problem."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        n = 8
        scopes = np.array([(int(rng.integers(0, i)), i) for i in range(1, n)])
        tables = rng.integers(0, 50, 9 * (n - 1)).astype(float)
        problem = Problem([3] * n, scopes.ravel(), np.arange(0, 2 * n, 2), tables, np.arange(0, 9 * n, 9))
        result = dabp.solve(problem, "forest-lns", max_iterations=1, seed=seed)
        assert result.cost == exhaustive(problem)[0]


def test_without_heat_the_cost_never_rises() -> None:
    """Each move is a joint optimum of what it frees, factors of three and four variables included."""
    for seed in range(30):
        problem = drawn_problem(np.random.default_rng(seed), dense=True, hard=0.0)
        costs = dabp.solve(problem, ForestLNS(heat=0.0), max_iterations=30, seed=seed).trace.iteration_costs
        assert (np.diff(costs) <= 1e-9).all()


def test_a_better_offer_is_taken_up() -> None:
    """What others found is where the search goes on."""
    problem = generate("random-cop", variables=20, domain=4, density=0.4, seed=1)
    search = ForestLNS().start(problem, seed=0, budget=Budget())
    better = dabp.solve(problem, "mbe").assignment
    search.offer(better, problem.cost(better))
    assert search.step().best_cost <= problem.cost(better)


def test_one_wide_variable_among_many_costs_no_memory() -> None:
    """Work arrays are as long as all domains together, not as the widest one times the variables."""
    sizes = np.full(200_001, 2)
    sizes[0] = 1_000_000
    table = np.arange(2.0 * sizes[0])[::-1]
    problem = Problem(sizes, [0, 1], [0, 2], table, [0, len(table)])
    search = ForestLNS().start(problem, seed=0, budget=Budget(max_iterations=1))
    assert search.step().best_cost == 0.0


def test_parameters_are_checked() -> None:
    """Nonsense is refused when the solver is made."""
    with pytest.raises(ParameterError):
        ForestLNS(moves=1)
    with pytest.raises(ParameterError):
        ForestLNS(heat=-1.0)
