"""Simulated annealing."""

from __future__ import annotations

import time

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.lab.generators import generate
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget
from dabp.solvers.local_search.annealing import Annealing
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem

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


def cooled(problem: Problem, start: Assignment | None, seconds: float = 0.05, heat: float = 0.6) -> tuple[float, float]:
    """The best cost of one cooling, and how long it took."""
    budget = Budget(time_limit=seconds)
    search = Annealing(heat=heat).start(problem, seed=1, budget=budget, initial=start)
    began, best = time.perf_counter(), np.inf
    while True:
        step = search.step()
        if step.best is not None:
            assert step.best_cost == pytest.approx(problem.cost(step.best))
            best = min(best, step.best_cost)
        if step.finished is not None:
            assert step.finished in (Status.CONVERGED, Status.OPTIMAL, Status.INFEASIBLE)
            return best, time.perf_counter() - began


@pytest.mark.parametrize("seed", [seed for seed in range(25) if not random_problem(seed).maximize])
def test_one_cycle_finds_the_optimum_of_small_problems(seed: int) -> None:
    """Of any arity, domain and forbidden combinations, from a random start and hot enough to leave it.

    On a busy machine few sweeps may fit into a cooling: it may then take longer.
    """
    problem = random_problem(seed)
    optimum = exhaustive_optimum(problem)
    expected = np.inf if optimum is None else pytest.approx(optimum, abs=1e-9)
    assert any(cooled(problem, None, seconds=seconds, heat=1.0)[0] == expected for seconds in (0.03, 0.3, 1.0))


def test_ends_no_worse_than_it_began_and_by_itself() -> None:
    """A good answer is kept where cooling finds none better; a poor one becomes better than by descent alone."""
    problem = generate("random-cop", variables=60, seed=3)
    poor = np.zeros(60, dtype=np.int64)
    first, _ = cooled(problem, poor, seconds=0.001, heat=0.01)
    second, _ = cooled(problem, poor)
    assert second < first < problem.cost(poor)
    search = Annealing(heat=0.6).start(problem, seed=2, budget=Budget(time_limit=0.02), initial=poor)
    good = None
    for _ in range(50):
        step = search.step()
        good = step.best if step.best is not None else good
        if step.finished is not None:
            break
    assert step.finished is Status.CONVERGED
    assert good is not None
    assert cooled(problem, good, seconds=0.002)[0] <= problem.cost(good)
