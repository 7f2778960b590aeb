"""Temperatures from differences of cost."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.solvers.local_costs.temperatures import Differences, temperature_range, uphill_temperature


def pairs(rises: np.ndarray) -> Differences:
    """Variables with two values, the present one and one that costs so much more."""
    return Differences(
        np.repeat(np.arange(len(rises)), 2), np.column_stack([np.zeros(len(rises)), rises]).ravel().astype(float)
    )


def test_temperature_for_a_fraction_uphill() -> None:
    """With two values a distance apart, P(uphill) = 1 / (1 + exp(d / T)) is solved for T."""
    assert uphill_temperature(pairs(np.array([5.0])), 0.25) == pytest.approx(5.0 / np.log(3.0), rel=1e-4)


def test_nothing_uphill_is_no_difference() -> None:
    """A problem in which nothing goes uphill still has temperatures."""
    assert temperature_range(pairs(np.zeros(0)), 0.25).hot == 1.0


def test_steps_are_frozen_and_all_sizes_are_not() -> None:
    """With differences of 2, 4, 6 … cooling ends where the least is frozen; with all sizes at one per cent uphill."""
    rng = np.random.default_rng(0)
    stepped = temperature_range(pairs(2.0 * rng.integers(1, 5, 2000)), 0.1)
    assert stepped.stepped == 1.0
    assert np.exp(-2.0 / stepped.cold) < 0.01
    smooth = pairs(rng.exponential(size=2000))
    found = temperature_range(smooth, 0.1)
    assert found.stepped == 0.0
    assert found.cold == uphill_temperature(smooth, 0.01)


@pytest.mark.parametrize("factor", [1e-6, 1e9])
def test_the_range_scales_with_the_costs(factor: float) -> None:
    """Temperatures are in the unit of the costs, whatever it is."""
    rises = np.random.default_rng(1).exponential(size=500)
    one, other = temperature_range(pairs(rises), 0.25), temperature_range(pairs(factor * rises), 0.25)
    assert other.hot == pytest.approx(factor * one.hot, rel=1e-6)
    assert other.cold == pytest.approx(factor * one.cold, rel=1e-6)
