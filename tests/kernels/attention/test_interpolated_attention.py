"""When interpolation is chosen."""

from __future__ import annotations

import numpy as np

from dabp.kernels.attention import interpolated_attention
from dabp.kernels.attention.chebyshev import half_ranges
from tests.kernels.alone import alone

pays = alone(interpolated_attention.pays)
range_of = alone(interpolated_attention.range_of)


def test_pays_for_many_close_keys_only() -> None:
    """Few neighbours, or keys far apart in one head, are handled pair by pair."""
    limits, rng = half_ranges(np.float64), np.random.default_rng(0)
    close, apart = 0.01 * rng.normal(size=(4, 60)), 5.0 * rng.normal(size=(4, 60))
    assert pays(close, 60, limits)
    assert not pays(close, 5, limits)
    assert not pays(apart, 60, limits)
    assert not pays(np.concatenate([close[:3], apart[:1]]), 60, limits)


def test_range_counts_the_variable_s_own_keys() -> None:
    """Room beyond the degree does not count."""
    middle, half, _ = range_of(np.array([1.0, 3.0, 2.0, 99.0]), 3, half_ranges(np.float64))
    assert (middle, half) == (2.0, 1.0)
