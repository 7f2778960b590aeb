"""Simulated annealing."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.base import Budget
from dabp.solvers.local_search.annealing import Annealing
from dabp.solvers.status import Status
from tests.problems import random_problem

PROBLEM = dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=4)


def test_goes_on_after_its_time_is_over() -> None:
    """A search that is stepped beyond its limit begins cycle after cycle; their planned lengths stay numbers."""
    search = Annealing().start(random_problem(1), seed=1, budget=Budget(time_limit=1e-9))
    cycles = sum(len(search.step().costs) for _ in range(3000))
    assert cycles > 0


def test_proves_what_needs_no_search() -> None:
    """A cost equal to the sum of the factors' least is optimal; one assignment only is looked at."""
    crisp = dabp.generate("graph-coloring", variables=10, domain=4, density=0.2, variant="text", seed=0)
    assert dabp.solve(crisp, "annealing", max_iterations=5000).status is Status.OPTIMAL
    assert dabp.solve(Problem([1, 1]), "annealing", max_iterations=5).status is Status.OPTIMAL
    assert dabp.solve(Problem([]), "annealing", max_iterations=5).cost == 0.0


@pytest.mark.parametrize(
    "wrong", [{"hot": 0.0}, {"cold": -1.0}, {"hot": 1.0, "cold": 2.0}, {"cycle": 0}, {"reheat_every": -1}]
)
def test_refuses_wrong_parameters(wrong: dict[str, float]) -> None:
    """A parameter outside its range is an error on construction."""
    with pytest.raises(ParameterError):
        Annealing(**wrong)


def test_annealing_of_an_answer_improves_it() -> None:
    """Cycles that all begin at the best answer end below a descent from it, and never above it."""
    problem = generate("random-cop", variables=60, seed=3)
    start = np.zeros(60, dtype=np.int64)
    descent = dabp.solve(problem, "icm", initial=start)
    params = {"reheat_every": 1, "cycle": 100}
    result = dabp.solve(problem, "annealing", params=params, initial=descent.assignment, max_iterations=1000)
    assert result.cost < descent.cost
