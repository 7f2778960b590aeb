"""A problem in units: the same problem, scaled and shifted, with exact totals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dabp.problem import Problem
from dabp.problem.facts import within_limit
from dabp.problem.units import InUnits
from tests.problems import all_assignments, random_problem


def decimals(constant: float, limit: float | None) -> Problem:
    """Four assignments: 0.15, 2.30, forbidden and 1.10, and a constant."""
    return Problem([2, 2], [0, 1], [0, 2], [0.15, 2.3, np.inf, 1.1], [0, 4], constant=constant, limit=limit)


@pytest.mark.parametrize("constant", [0.0, -7.25, 1e9, 0.1])
def test_totals_are_integers_of_the_unit(constant: float) -> None:
    """Without the constant, for every assignment; what is forbidden stays so."""
    units = InUnits(decimals(constant, None))
    assert units.scale == 100
    assert [units.problem.cost(row) for row in all_assignments(units.problem)] == [15.0, 230.0, np.inf, 110.0]
    assert units.problem.constant == 0


def test_the_limit_is_the_first_total_that_is_excluded() -> None:
    """In units, whichever constant it was given with."""
    for constant, limit, excluded in ((0.0, 1.1, 110), (1e9, 1000000000.9, 90), (-7.25, -6.1, 115)):
        problem = InUnits(decimals(constant, limit)).problem
        assert problem.limit == excluded
        rows = all_assignments(problem)
        better = [Fraction(str(cost)) + Fraction(str(constant)) < Fraction(str(limit)) for cost in (0.15, 2.3, 1.1)]
        assert [within_limit(problem, problem.cost(rows[i])) for i in (0, 1, 3)] == better


def test_integers_are_left_alone() -> None:
    """Nothing to scale: the very problem."""
    problem = Problem([2], [0], [0, 1], [3, 5], [0, 2], constant=4)
    assert InUnits(problem).problem is problem


@pytest.mark.parametrize("seed", range(60))
def test_totals_in_units_are_those_of_the_problem(seed: int) -> None:
    """Integers where costs are decimal, equal totals equal, and as costs again what they were."""
    problem = random_problem(seed, maximize=False).replace(constant=[0.0, 1e11, 0.1][seed % 3])
    inside = InUnits(problem)
    rows = all_assignments(problem)[:200]
    units, costs = inside.problem.cost(rows), problem.cost(rows)
    finite = np.isfinite(costs)
    assert np.array_equal(finite, np.isfinite(units))
    assert [inside.cost(float(u)) for u in units[finite]] == pytest.approx(costs[finite], rel=1e-12, abs=1e-12)
    assert inside.costs(units[finite]) == pytest.approx(costs[finite], rel=1e-12, abs=1e-12)
    if problem.facts.decimal_digits is not None:
        assert inside.problem.facts.integral
    if problem.facts.integral:
        assert inside.problem is problem
