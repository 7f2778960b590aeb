"""Exact neighbourhoods of bounded width: better than single moves, exact where all fits, the same after a break."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.elimination.neighbourhood import Neighbourhood
from dabp.solvers.status import Status
from tests.problems import exhaustive, random_problem


def grid(side: int, seed: int = 0) -> Problem:
    """A square of spins with random couplings and fields."""
    rng = np.random.default_rng(seed)
    number = np.arange(side * side).reshape(side, side)
    edges = [*zip(number[:, :-1].ravel(), number[:, 1:].ravel(), strict=True)]
    edges += [*zip(number[:-1].ravel(), number[1:].ravel(), strict=True)]
    tables = [((i,), rng.normal(size=2)) for i in range(side * side)]
    tables += [((int(i), int(j)), rng.normal() * np.array([[1.0, -1.0], [-1.0, 1.0]])) for i, j in edges]
    return Problem.from_tables([2] * side**2, tables)


def test_a_problem_that_fits_is_solved_in_one_iteration() -> None:
    """Also with forbidden combinations and from an infeasible start."""
    for seed in range(60):
        problem = random_problem(seed, maximize=False)
        optimum, _ = exhaustive(problem)
        start = np.zeros(problem.num_variables, dtype=np.int64)
        search = Neighbourhood(min_cells=2**12).start(problem, seed=0, budget=Budget(), initial=start)
        step = search.step()
        if len(step.costs) == 1 and step.finished is Status.CONVERGED:
            assert step.costs[0] == pytest.approx(optimum)
        else:  # components that no factor connects are freed one at a time
            assert step.costs.min() >= optimum - 1e-9


def test_it_finds_the_optimum_of_a_grid_wider_than_its_tables() -> None:
    """Elimination with tables of 2¹² cells solves the grid; tables of 2⁵ cells and challenges find the same cost."""
    problem = grid(12)
    exact = dabp.solve(problem, "mbe", params={"i_bound": 20})
    assert exact.status is Status.OPTIMAL
    params = {"min_cells": 16, "challenge_cells": 32, "max_cells": 32}
    found = dabp.solve(problem, "neighbourhood", params=params, max_iterations=1500, seed=1, presolve=False)
    assert found.cost == pytest.approx(exact.cost)


def test_a_resumed_search_continues_bit_by_bit() -> None:
    """Saved anywhere, also within a challenge."""
    problem, solver = grid(20), Neighbourhood(min_cells=16, challenge_cells=16, max_cells=64)
    whole = solver.start(problem, seed=4, budget=Budget(max_iterations=400))
    costs = []
    states = []
    while len(costs) < 400:
        states.append((len(costs), whole.state_dict()))
        costs.extend(whole.step().costs.tolist())
    assert any(len(state["patch"]) for _, state in states) or len(states) == 1
    for done, state in states[:: max(1, len(states) // 3)]:
        again = solver.start(problem, seed=4, budget=Budget(max_iterations=400))
        again.load_state_dict(state)
        rest: list[float] = []
        while done + len(rest) < 400:
            rest.extend(again.step().costs.tolist())
        assert rest == costs[done:]


def test_the_incumbent_keeps_what_challenges_do_not_lower() -> None:
    """Outside challenges the cost never rises."""
    search = Neighbourhood(min_cells=16, challenge_cells=16, max_cells=16).start(grid(16), seed=0, budget=Budget())
    best = np.inf
    for _ in range(5):
        search.step()
        incumbent = grid(16).cost(search.state_dict()["best"])
        assert incumbent <= best + 1e-9
        best = incumbent


@pytest.mark.parametrize("params", [{"min_cells": 0}, {"max_cells": 2**30}, {"min_cells": 2**20}])
def test_wrong_budgets_are_refused(params: dict[str, int]) -> None:
    """With the number found and the range expected."""
    with pytest.raises(ParameterError, match="cells must be"):
        Neighbourhood(**params)
