"""Before a search starts: fixed variables, given starts, presolve, and the way back."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.driver.preparation import Preparation
from dabp.driver.solve import solve
from dabp.errors import ProblemError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.problem.columns import cheapest_values
from dabp.problem.guard import Guard
from tests.problems import random_problem
from tests.sampling import Sampling


@pytest.mark.parametrize("seed", range(40, 60))
def test_costs_are_the_same_on_both_sides(seed: int) -> None:
    """What the search sees costs what the user's problem says of the lifted assignment, fixed values included."""
    problem = random_problem(seed)
    variable = seed % problem.num_variables
    rng = np.random.default_rng(seed)
    for fix, presolve in (({variable: int(problem.domain_sizes[variable]) - 1}, False), ({}, True), ({}, False)):
        prepared = Preparation(problem, fix, presolve, Guard())
        if prepared.infeasible:
            continue
        for _ in range(5):
            drawn = rng.integers(0, prepared.reduced.domain_sizes)
            lifted = prepared.lift(drawn)
            signed = -problem.cost(lifted) if problem.maximize else problem.cost(lifted)
            assert signed == pytest.approx(prepared.reduced.cost(drawn))
            if fix:
                assert lifted[variable] == problem.domain_sizes[variable] - 1


def test_a_batch_is_no_start(problem: Problem) -> None:
    """Several assignments at once are refused by name."""
    with pytest.raises(ProblemError, match="not a batch"):
        solve(problem, Sampling(), initial=np.zeros((2, 8), dtype=int), max_iterations=1)


def test_fixed_variables_stay_and_initial_is_kept(problem: Problem) -> None:
    """`fix` holds in every answer; `initial` is never lost to something worse."""
    best = solve(problem, Sampling(), max_iterations=5000)
    again = solve(problem, Sampling(), max_iterations=10, initial=best.values, seed=5)
    assert again.cost == best.cost
    fixed = solve(problem, Sampling(), max_iterations=50, fix={"x1": 2, "x3": "0"}, initial=best.assignment)
    assert fixed.assignment is not None
    assert fixed.assignment[[1, 3]].tolist() == [2, 0]
    everything = {f"x{i}": 0 for i in range(8)}
    assert solve(problem, Sampling(), max_iterations=10, fix=everything).cost == problem.cost([0] * 8)


def test_a_given_start_is_not_lost_to_presolve() -> None:
    """A feasible start is the first answer, also where presolve leaves no place for its values."""
    rng = np.random.default_rng(0)
    for _ in range(40):
        table = np.where(rng.random((3, 3)) < 0.4, np.inf, rng.integers(0, 9, (3, 3)))
        unary = rng.integers(0, 9, 3)
        problem = Problem([3, 3], [0, 0, 1], [0, 1, 3], np.concatenate([unary, table.ravel()]), [0, 3, 12])
        for start in np.ndindex(3, 3):
            cost = problem.cost(np.array(start))
            if np.isfinite(cost):
                result = solve(problem, "tabu", initial=np.array(start), max_iterations=0, presolve=True)
                assert result.cost is not None
                assert result.cost <= cost


def test_a_start_against_fixed_variables_is_no_answer(problem: Problem) -> None:
    """What is held at a value wins over the start."""
    start = np.zeros(problem.num_variables, dtype=np.int64)
    result = solve(problem, "tabu", initial=start, fix={"x0": 1}, max_iterations=0)
    assert result.assignment is not None
    assert result.assignment[0] == 1


def test_a_guess_priced_late_is_still_an_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """No time at all: the guess comes back with its cost."""
    monkeypatch.setattr("dabp.driver.first_answers.PRICED_ENTRIES", 0)
    problem = generate("random-cop", variables=60, domain=5, density=0.2, seed=1)
    answer = dabp.solve(problem, "auto", time_limit=1e-6)
    assert answer.cost is not None
    assert answer.cost <= problem.cost(cheapest_values(problem))
    assert dabp.solve(problem, "annealing", max_iterations=5).cost is not None
