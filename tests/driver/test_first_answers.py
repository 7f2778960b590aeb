"""The answers before the search: the guess by unary costs, and the descent where the guess is forbidden."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.driver.first_answers import first_guess, visible_descent
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.problem.model import Model
from tests.problems import random_problem


@pytest.mark.parametrize("seed", range(60, 80))
def test_each_variable_takes_its_best_unary_value(seed: int) -> None:
    """Against adding up every variable's unary tables one by one, in both directions."""
    problem = random_problem(seed)
    guess = first_guess(problem)
    for variable in range(problem.num_variables):
        costs = np.zeros(problem.domain_sizes[variable])
        for factor in range(problem.num_factors):
            if problem.scope(factor).tolist() == [variable]:
                costs += problem.table(factor)
        assert guess[variable] == (np.argmax(costs) if problem.maximize else np.argmin(costs))


def test_fixed_variables_and_nothing_at_all() -> None:
    """What is held is held; no variables are no values; forbidden everywhere is still a value."""
    problem = Problem([2, 3], [0], [0, 1], [np.inf, np.inf], [0, 2])
    assert first_guess(problem, {1: 2}).tolist() == [0, 2]
    assert first_guess(Problem([], [], [0], [], [0])).tolist() == []


def knapsack(items: int, maximize: bool, seed: int = 0) -> Problem:
    """Three limits on weights; the cheapest guess takes everything, which none of them allows."""
    rng = np.random.default_rng(seed)
    model = Model(maximize=maximize)
    names = model.add_variables([f"x{i}" for i in range(items)], 2)
    for name in names:
        worth = float(rng.integers(10, 100))
        model.add_cost([name], [0.0, worth if maximize else -worth])
    for _ in range(3):
        weights = rng.integers(1, 30, items)
        model.linear(dict(zip(names, weights.tolist(), strict=True)), "<=", int(weights.sum() // 2))
    return model.build()


@pytest.mark.parametrize("maximize", [True, False])
def test_it_finds_what_is_allowed_and_nearly_the_best(maximize: bool) -> None:
    """Against all assignments of ten items, in both directions; auxiliary variables follow from the others."""
    problem = knapsack(10, maximize)
    every = np.indices((2,) * 10).reshape(10, -1).T
    costs = problem.cost(every)
    best = costs[np.isfinite(costs)].max() if maximize else costs[np.isfinite(costs)].min()
    guess = problem.auxiliaries.completed(np.ones(10, dtype=np.int64))
    assert np.isinf(problem.cost(guess))
    found = visible_descent(problem, guess, np.zeros(0, dtype=np.int64), Guard())
    assert found.tolist() == problem.auxiliaries.completed(found[:10]).tolist()
    assert abs(problem.cost(found)) >= 0.95 * abs(best)


def test_what_is_held_stays_and_a_guard_ends_it() -> None:
    """Variables that are fixed keep their values; without time the best of the starts is given."""
    problem = knapsack(12, True)
    guess = problem.auxiliaries.completed(np.ones(12, dtype=np.int64))
    held = np.array([0, 3])
    assert visible_descent(problem, guess, held, Guard())[held].tolist() == [1, 1]
    nothing = visible_descent(problem, guess, np.zeros(0, dtype=np.int64), Guard(time_limit=0.0))
    assert not nothing[:12].any()
    everything = np.arange(12)
    assert visible_descent(problem, guess, everything, Guard()).tolist() == guess.tolist()


def test_a_solve_begins_with_it() -> None:
    """A knapsack along whose chains local search cannot move has an answer after few iterations, each time the same."""
    problem = knapsack(40, True)
    results = [dabp.solve(problem, "tabu", max_iterations=2, seed=1) for _ in range(2)]
    assert results[0].cost is not None
    assert results[0].cost == results[1].cost > 0
    held = dabp.solve(problem, "tabu", max_iterations=2, fix={"x0": 1})
    assert held.values is not None
    assert held.values["x0"] == 1
