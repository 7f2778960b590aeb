"""What is known of totals: how large, how exact, and whether they are better than the limit."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

from dabp.problem import Problem
from tests.problems import all_assignments, random_problem


def unary(costs: list[float], **options: object) -> Problem:
    """One variable whose costs these are."""
    return Problem([len(costs)], [0], [0, 1], costs, [0, len(costs)], **options)  # type: ignore[arg-type]


def test_magnitude_bounds_every_total() -> None:
    """The largest finite cost of each factor, shared tables counted for each, and the constant."""
    problem = Problem([2, 2], [0, 1], [0, 1, 2], [3, np.inf], [0, 2], [0, 0], constant=-4)
    assert (problem.table_magnitude, problem.magnitude) == (6.0, 10.0)
    assert (problem.integral, problem.integral_tables, problem.rounding_error) == (True, True, 0.0)


def test_kinds_of_cost() -> None:
    """Integers, decimals with any constant, and reals."""
    assert unary([1, 2]).decimal_digits == 0
    assert unary([0.25, 1.5], constant=np.pi).decimal_digits == 2
    assert not unary([1, 2], constant=0.5).integral
    assert unary([np.pi, 1]).decimal_digits is None


@pytest.mark.parametrize("maximize", [False, True])
def test_decimals_meet_their_limit_exactly(maximize: bool) -> None:
    """0.1 + 0.2 is not better than 0.3, though its float is larger; 0.7 + 0.1 is not better than 0.8."""
    sign = -1.0 if maximize else 1.0
    for first, second, limit in ((0.1, 0.2, 0.3), (0.7, 0.1, 0.8)):
        problem = Problem(
            [1, 1], [0, 1], [0, 1, 2], [sign * first, sign * second], [0, 1, 2], limit=sign * limit, maximize=maximize
        )
        assert not problem.within_limit(problem.cost([0, 0]), [0, 0])
        assert problem.excludes(problem.cost([0, 0]))
        better = problem.replace(limit=sign * (limit + 0.1))
        assert better.within_limit(better.cost([0, 0]), [0, 0])
        assert not better.excludes(better.cost([0, 0]))


def test_a_large_constant_does_not_blur_a_limit() -> None:
    """A total of 1000000000.25 is better than 1000000000.90; without a limit everything is."""
    problem = unary([0.25, 10.5], constant=1e9, limit=1000000000.90)
    assert problem.within_limit(problem.cost([0]), [0])
    assert not problem.within_limit(problem.cost([1]), [1])
    assert unary([1.0]).within_limit(1e300)
    assert not unary([1.0]).excludes(1e300)


def test_reals_too_near_to_tell_are_summed_exactly() -> None:
    """Given the assignment, the exact sum decides where floats cannot."""
    rng = np.random.default_rng(3)
    costs = rng.normal(size=12) * 10.0 ** rng.integers(-6, 6, 12)
    problem = Problem([1] * 12, np.arange(12), np.arange(13), costs, np.arange(13))
    total = problem.cost([0] * 12)
    exact = math.fsum(costs.tolist())
    for limit in (np.nextafter(total, -np.inf), total, np.nextafter(total, np.inf)):
        limited = problem.replace(limit=float(limit))
        assert limited.within_limit(total, [0] * 12) == (math.fsum([*costs.tolist(), -float(limit)]) < 0)
    assert abs(exact - total) <= problem.rounding_error


@pytest.mark.parametrize("seed", range(60))
def test_a_total_is_off_by_no_more_than_its_rounding_error(seed: int) -> None:
    """Every total of floats against the exact sum, with a constant and scales that spoil the last places."""
    rng = np.random.default_rng(seed)
    problem = random_problem(seed)
    problem = problem.replace(pool=problem.pool * 10.0 ** rng.integers(-6, 6), constant=float(rng.choice([0.1, 1e9])))
    for values in all_assignments(problem)[:40]:
        costs = problem.factor_costs(values)
        if np.isfinite(costs).all():
            exact = sum(map(Fraction, costs.tolist()), Fraction(problem.constant))
            assert abs(Fraction(problem.cost(values)) - exact) <= Fraction(problem.rounding_error)


def test_a_limit_is_no_proof_of_infeasibility_within_rounding() -> None:
    """A bound of real costs excludes everything only if it is beyond the limit by more than rounding can do."""
    problem = Problem([2], [0], [0, 1], [np.pi, np.e], [0, 2], limit=np.e)
    assert not problem.excludes(np.e)
    assert problem.excludes(np.e + 1e-12)
