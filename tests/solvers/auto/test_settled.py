"""A problem without variables, or that forbids everything, is solved by its one step."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.solvers.auto.settled import Settled, contradicted
from dabp.solvers.status import Status


@pytest.mark.parametrize(("constant", "extra"), [(0.0, 0.0), (7.5, -2.0)])
def test_nothing_costs_the_constant(constant: float, extra: float) -> None:
    """And the factors without variables."""
    problem = Problem.from_tables([], [((), np.array(extra))], constant=constant)
    step = Settled(problem).step()
    assert not contradicted(problem)
    assert step.finished is Status.OPTIMAL
    assert (step.best_cost, step.bound) == (constant + extra, constant + extra)


def test_a_factor_without_variables_may_forbid_everything() -> None:
    """Whatever the variables are."""
    problem = Problem.from_tables([2, 2], [((), np.array(np.inf)), ((0, 1), np.zeros((2, 2)))])
    assert contradicted(problem)
    assert Settled(problem).step().finished is Status.INFEASIBLE
