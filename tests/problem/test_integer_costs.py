"""Costs as non-negative integers, for formats that know no others."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.errors import FormatError
from dabp.problem import Problem
from dabp.problem.integer_costs import integer_costs
from tests.problems import all_assignments, random_problem


@pytest.mark.parametrize("seed", range(40))
def test_scaled_costs_are_those_of_the_problem(seed: int) -> None:
    """Divided by the scale and lowered again, every assignment costs what it did; forbidden stays forbidden."""
    problem = random_problem(seed)
    costs, _ = integer_costs(problem)
    integers = problem.replace(
        pool=np.where(costs.pool < 0, np.inf, costs.pool), constant=costs.constant, maximize=False, limit=None
    )
    rows = all_assignments(problem)[:200]
    sign = -1.0 if problem.maximize else 1.0
    real, scaled = sign * problem.cost(rows), integers.cost(rows)
    assert np.array_equal(np.isinf(real), np.isinf(scaled))
    finite = np.isfinite(real)
    slack = 0.0 if problem.facts.integral else 0.5 * problem.num_factors / costs.scale + 1e-9
    assert (np.abs((scaled[finite] - costs.raised) / costs.scale - real[finite]) <= slack).all()
    assert (scaled[finite] < costs.top).all()
    assert (costs.pool >= -1).all()


def test_costs_without_room_for_a_scale_are_refused() -> None:
    """Costs near 2^53 with a fraction cannot be written as integers."""
    problem = Problem([2], [0], [0, 1], [2.0**51 + 0.5, 0.0], [0, 2])
    with pytest.raises(FormatError, match="too large"):
        integer_costs(problem)
