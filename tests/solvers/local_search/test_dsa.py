"""The distributed stochastic algorithm."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.solvers.local_search.dsa import Dsa
from dabp.solvers.status import Status
from tests.problems import exhaustive_optimum, random_problem

PROBLEM = dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=4)


@pytest.mark.parametrize("seed", range(20))
def test_never_better_than_exhaustive_search(seed: int) -> None:
    """Any problem is taken; the cost reported is possible."""
    problem = random_problem(seed)
    optimum = exhaustive_optimum(problem)
    result = dabp.solve(problem, "dsa", max_iterations=50, seed=seed)
    if result.cost is None:
        return
    assert optimum is not None
    sign = -1 if problem.maximize else 1
    assert sign * result.cost >= sign * optimum - 1e-9


def test_a_round_is_what_its_definition_says() -> None:
    """With probability 1, variant A: all variables take their best value given the last round's."""
    start = np.random.default_rng(0).integers(0, PROBLEM.domain_sizes)
    result = dabp.solve(PROBLEM, Dsa(probability=1.0, variant="A"), max_iterations=1, seed=0, initial=start)
    after = start.copy()
    for i in range(PROBLEM.num_variables):
        rows = np.repeat(start[None], PROBLEM.domain_sizes[i], axis=0)
        rows[:, i] = np.arange(PROBLEM.domain_sizes[i])
        after[i] = np.argmin(PROBLEM.cost(rows))
    assert result.trace.iteration_costs[0] == PROBLEM.cost(after)


@pytest.mark.parametrize("variant", ["A", "B"])
def test_converges_where_no_single_change_helps(variant: str) -> None:
    """It ends by itself; its last assignment is then a local minimum."""
    result = dabp.solve(PROBLEM, "dsa", params={"variant": variant}, seed=1, max_iterations=10_000)
    assert result.status is Status.CONVERGED
    last = result.trace.iteration_costs[-1]
    assert last == result.cost
    for i in range(PROBLEM.num_variables):
        rows = np.repeat(result.assignment[None], PROBLEM.domain_sizes[i], axis=0)
        rows[:, i] = np.arange(PROBLEM.domain_sizes[i])
        assert PROBLEM.cost(rows).min() == last


def test_same_seed_same_answer() -> None:
    """Chance comes from the seed only."""
    first, second = (dabp.solve(PROBLEM, "dsa", params={"variant": "C"}, max_iterations=60, seed=5) for _ in range(2))
    np.testing.assert_array_equal(first.trace.iteration_costs, second.trace.iteration_costs)


@pytest.mark.parametrize("wrong", [{"probability": 0.0}, {"probability": 1.5}, {"variant": "D"}])
def test_refuses_wrong_parameters(wrong: dict[str, object]) -> None:
    """A parameter outside its range is an error on construction."""
    with pytest.raises(ParameterError):
        Dsa(**wrong)
