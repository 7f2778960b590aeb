"""Tabu search."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.solvers.base import Budget
from dabp.solvers.local_search.tabu import Tabu
from tests.problems import exhaustive_optimum, random_problem

PROBLEM = dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=4)


@pytest.mark.parametrize("seed", range(40))
def test_finds_the_optimum_of_small_problems(seed: int) -> None:
    """Any arity, domain, direction and forbidden combination: the optimum soon, with its exact cost."""
    problem = random_problem(seed)
    optimum = exhaustive_optimum(problem)
    result = dabp.solve(problem, "tabu", params={"patience": 20}, max_iterations=1000, seed=seed)
    if optimum is None:
        assert result.cost is None
    else:
        assert result.cost == pytest.approx(optimum, abs=1e-9)


def test_same_seed_same_answer_whatever_the_blocks() -> None:
    """Blocks differ from run to run, iterations do not; another seed gives another course."""
    first, second, other = (dabp.solve(PROBLEM, "tabu", max_iterations=800, seed=s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.trace.iteration_costs, second.trace.iteration_costs)
    assert first.iterations == 800
    assert not np.array_equal(first.trace.iteration_costs, other.trace.iteration_costs)


def test_resumes_bit_for_bit() -> None:
    """A search continued from `state_dict` does what the first would have done."""
    first = Tabu(patience=50).start(PROBLEM, seed=3, budget=Budget())
    second = Tabu(patience=50).start(PROBLEM, seed=3, budget=Budget())
    while first.iterations < 300:
        first.step()
    second.load_state_dict(first.state_dict())
    one, two = ([], [])
    for search, costs in ((first, one), (second, two)):
        while len(costs) < 500:
            costs.extend(search.step().costs)
    assert one[:500] == two[:500]


def test_takes_offers() -> None:
    """Never worse than `initial`; an offered incumbent is not handed back as its own."""
    best = dabp.solve(PROBLEM, "tabu", max_iterations=2000, seed=0)
    assert dabp.solve(PROBLEM, "tabu", max_iterations=1, seed=9, initial=best.assignment).cost == best.cost
    search = Tabu(patience=5).start(PROBLEM, seed=1, budget=Budget())
    search.offer(best.assignment, best.cost)
    for _ in range(5):
        step = search.step()
        assert step.best is None or step.best_cost < best.cost


@pytest.mark.parametrize("wrong", [{"tenure": 0}, {"tenure": 2**31}, {"patience": 0}, {"elites": 0}])
def test_refuses_wrong_parameters(wrong: dict[str, int]) -> None:
    """A parameter outside its range is an error on construction."""
    with pytest.raises(ParameterError):
        Tabu(**wrong)
