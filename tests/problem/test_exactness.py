"""Decimal costs recognised as integers of a unit."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dabp.problem.exactness import decimal, first_excluded, in_units, least_digits


@pytest.mark.parametrize("digits", range(9))
def test_as_many_digits_as_are_written(digits: int) -> None:
    """Decimals of k digits need k and not one less, whatever their size and sign."""
    rng = np.random.default_rng(digits)
    integers = np.append(rng.integers(-10_000, 10_000, 200) * 10, 1)  # one of them needs the last digit
    costs = np.array([float(f"{integer}e-{digits}") for integer in integers.tolist()])
    assert least_digits(costs, float(np.abs(costs).sum())) == digits
    assert in_units(costs, digits).tolist() == integers.tolist()


def test_real_and_too_large_numbers_have_no_unit() -> None:
    """Random reals, and decimals whose totals would not be exact; forbidden and nothing count as integers."""
    assert least_digits(np.random.default_rng(0).normal(size=50), 100.0) is None
    assert least_digits(np.array([0.1]), 1e16) is None
    assert least_digits(np.array([np.inf, 0.0, 3.0]), 3.0) == 0
    assert least_digits(np.array([]), 0.0) == 0


@pytest.mark.parametrize(
    ("limit", "digits", "excluded"),
    [("0.3", 1, 3), ("0.31", 1, 4), ("-0.31", 1, -3), ("5", 0, 5), ("0.8", 1, 8), ("1000000000.90", 2, 100000000090)],
)
def test_the_first_total_that_a_limit_excludes(limit: str, digits: int, excluded: int) -> None:
    """The least number of units that is not below it, also from the float that the limit became."""
    assert first_excluded(Fraction(limit), digits) == excluded
    assert first_excluded(Fraction(float(limit)), digits) == excluded


def test_a_float_is_the_decimal_that_was_written() -> None:
    """Not the binary number next to it."""
    assert decimal(0.1) == Fraction(1, 10)
    assert decimal(1e-9) == Fraction(1, 10**9)


@pytest.mark.parametrize(
    ("costs", "digits"),
    [
        ([3.0, -7.0, np.inf], 0),
        ([], 0),
        ([0.5, 2.0], 1),
        ([0.25, 1000000000.9], 2),
        ([0.1 + 0.2, 0.3], 1),  # a computed decimal is one all the same
        ([3e-301, -17e-301], 301),
        ([np.pi, 1.0], None),
        ([1e-9, 1e12], None),  # decimal, but totals would not fit
    ],
)
def test_the_least_number_of_digits(costs: list[float], digits: int | None) -> None:
    """Integers, decimals of any size and computed ones are recognised, real costs are not."""
    values = np.array(costs)
    assert least_digits(values, float(np.abs(values[np.isfinite(values)]).sum())) == digits


def test_units_are_the_integers_of_the_text() -> None:
    """Ten thousand random decimals of any length come back as the integers they were made of."""
    rng = np.random.default_rng(0)
    for digits in range(1, 9):
        integers = rng.integers(-(10**9), 10**9, 10_000)
        costs = np.array([float(f"{i}e-{digits}") for i in integers.tolist()])
        found = least_digits(costs, float(np.abs(costs).max()))
        assert found is not None
        assert found <= digits
        assert np.array_equal(in_units(costs, digits), integers)
