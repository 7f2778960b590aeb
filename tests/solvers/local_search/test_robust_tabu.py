"""Robust tabu search: what it keeps up to date is what costs are, and small optima are found."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.kernels.local_search.robust_tabu import restart, robust_tabu
from dabp.solvers import make_solver
from dabp.solvers.base import Budget
from dabp.solvers.local_search.robust_tabu import RobustTabuSearch
from tests.solvers.local_costs.test_products import drawn


@pytest.mark.parametrize("large", [10, 10**6])
def test_changes_are_differences_of_costs(large: int) -> None:
    """After many steps on asymmetric problems, in 32 and in 64 bits, every exchange costs what the problem says."""
    for seed in range(5):
        problem = drawn(seed, size=9, high=large)
        search = make_solver("robust-tabu").start(problem, seed=seed, budget=Budget())
        assert isinstance(search, RobustTabuSearch)
        state = search._state
        assert state.change.dtype == (np.int32 if large == 10 else np.int64)
        robust_tabu(state, 50, 8, 3)
        now = float(problem.cost(state.values))
        assert now == 0.5 * int(state.clock["cost"]) + search._offset
        for u, v in itertools.combinations(range(9), 2):
            other = state.values.copy()
            other[[u, v]] = other[[v, u]]
            assert float(problem.cost(other)) - now == 0.5 * int(state.change[u, v])
        kept = state.change.copy()
        restart(state)
        assert np.array_equal(np.triu(kept, 1), np.triu(state.change, 1))


def test_small_optima_are_found() -> None:
    """By enumeration of the permutations of seven, and every step reports what its best costs."""
    for seed in range(3):
        problem = drawn(seed, size=7)
        optimum = min(float(problem.cost(np.array(p))) for p in itertools.permutations(range(7)))
        search = make_solver("robust-tabu").start(problem, seed=seed, budget=Budget(max_iterations=600))
        best, done = np.inf, 0
        while done < 600:
            step = search.step()
            done += len(step.costs)
            if step.best is not None:
                assert step.best_cost == problem.cost(step.best) == step.costs.min()
                best = min(best, step.best_cost)
        assert best == optimum


def test_mixtures_are_permutations_that_keep_what_parents_share() -> None:
    """Whatever the parents: two that agree on half of the variables, and two that agree nowhere."""
    problem = drawn(0, size=9)
    search = make_solver("robust-tabu", {"elites": 2}).start(problem, seed=0, budget=Budget())
    assert isinstance(search, RobustTabuSearch)
    one = np.arange(9)
    for two in (np.array([0, 1, 2, 3, 5, 6, 7, 8, 4]), np.roll(one, 4)):
        search._elites = [(0, one), (1, two)]
        for _ in range(50):
            child = search._mixed()
            assert np.array_equal(np.sort(child), one)
            assert (child[one == two] == one[one == two]).all()
