"""Costs as the integers that toulbar2 computes with."""

from __future__ import annotations

import numpy as np
import pytest

import dabp
from dabp.problem import Problem
from dabp.problem.guard import Guard
from dabp.solvers.stopped import Stopped
from dabp.solvers.toulbar2.scaled_costs import ScaledCosts
from tests.problems import all_assignments, exhaustive_optimum, random_problem


@pytest.mark.parametrize("seed", range(60))
def test_scaled_costs_stay_within_precision(seed: int) -> None:
    """Rounded costs are off by less than asked, bounds through them are valid, and decimals are exact."""
    problem = random_problem(seed, maximize=False)
    costs = ScaledCosts(problem, precision=1e-6)
    if costs.infeasible:
        assert exhaustive_optimum(problem) is None
        return
    rows = all_assignments(problem)
    true, integer = problem.cost(rows), costs.problem.cost(rows)
    assert np.array_equal(np.isinf(true), np.isinf(integer))
    feasible = np.isfinite(true)
    assert (costs.lower_bound(integer[feasible]) <= true[feasible]).all()
    np.testing.assert_allclose(integer[feasible] / costs.scale + costs.offset, true[feasible], atol=1e-6, rtol=0)
    assert integer[feasible].max(initial=0.0) <= costs.largest
    if problem.facts.integral:
        assert costs.scale == 1.0


def test_decimals_of_large_costs_are_not_lost() -> None:
    """A hundred-thousandth beside a hundred thousand is within the precision asked for, and decides."""
    problem = Problem([4], [0], [0, 1], [100000.00005, 100000.00001, 200000.0, 100000.1], [0, 4])
    costs = ScaledCosts(problem, precision=1e-6)
    assert costs.scale >= 1e5
    assert dabp.solve(problem, "toulbar2").assignment.tolist() == [1]


def test_scaling_hears_the_guard() -> None:
    """With no time left the costs are not scaled."""
    problem = dabp.generate("random-cop", variables=20, seed=1)
    with pytest.raises(Stopped, match="time limit"):
        ScaledCosts(problem, 1e-6, Guard(time_limit=0.0))
