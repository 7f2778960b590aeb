"""The distributed stochastic algorithm."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.errors import ParameterError
from dabp.solvers.local_search.dsa import Dsa
from dabp.solvers.status import Status

PROBLEM = dabp.generate("random-cop", variables=20, domain=6, density=0.4, seed=4)


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


@pytest.mark.parametrize("wrong", [{"probability": 0.0}, {"probability": 1.5}, {"variant": "D"}])
def test_refuses_wrong_parameters(wrong: dict[str, object]) -> None:
    """A parameter outside its range is an error on construction."""
    with pytest.raises(ParameterError):
        Dsa(**wrong)
