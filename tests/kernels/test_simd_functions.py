"""Powers and logarithms of whole vectors agree with NumPy's over their whole range."""

import numpy as np
import pytest

from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import lanes_of, load, store
from dabp.kernels.simd_functions import exponential_of, logarithm, power_of_two, power_or_zero


@array_kernel
def apply(data, powers, cut, logarithms, lanes):
    for place in range(0, len(data), len(lanes)):
        x = load(data, place, lanes)
        power = power_of_two(x)
        store(powers, place, power)
        store(cut, place, power_or_zero(x + x))
        store(logarithms, place, logarithm(power))


@pytest.mark.parametrize("count", [8, 16])
def test_powers_and_logarithms(count):
    """To a few units in the last place; 0 where a power would be denormal, also of minus infinity."""
    data = np.linspace(-126, 127, 4096).astype(np.float32)
    data[:4] = (-126, 0, 1, 127)
    powers, cut, logarithms = (np.zeros_like(data) for _ in range(3))
    data[2000] = -63
    with np.errstate(over="ignore"):
        apply(data, powers, cut, logarithms, lanes_of(count))
    np.testing.assert_allclose(powers, 2.0 ** data.astype(np.float64), rtol=3e-7)
    np.testing.assert_allclose(logarithms, data, rtol=2e-7, atol=2e-7)
    assert (cut[data < -63] == 0).all()
    normal = (data >= -63) & (data <= 63)
    np.testing.assert_allclose(cut[normal], 4.0 ** data[normal].astype(np.float64), rtol=3e-7)
    apply(np.full(count, -np.inf, np.float32), powers, cut[:count], logarithms, lanes_of(count))
    assert (cut[:count] == 0).all()


@array_kernel
def exponentials(data, result, lanes):
    for place in range(0, len(data), len(lanes)):
        store(result, place, exponential_of(load(data, place, lanes)))


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_exponentials(kind):
    """Those of NumPy in both precisions; in single precision the arguments are limited."""
    data = np.linspace(-80, 80, 4096).astype(kind)
    result = np.zeros_like(data)
    exponentials(data, result, lanes_of(4))
    error = 2 * np.finfo(kind).eps * (1 + np.abs(data))  # rounding of the exponent counts as often
    np.testing.assert_array_less(np.abs(result / np.exp(data.astype(np.float64)) - 1), error)
    exponentials(np.array([-1e9, 1e9, 0, 1] * 2, np.float32), result32 := np.zeros(8, np.float32), lanes_of(4))
    assert result32[0] < 1e-37
    assert 1e37 < result32[1] < np.inf
