"""The first guess: every variable's best by its own costs."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.driver.first_guess import first_guess
from dabp.problem import Problem
from tests.problems import random_problem


@pytest.mark.parametrize("seed", range(60, 100))
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
