"""Vectors of fixed length compute what NumPy computes, in both precisions."""

import numpy as np
import pytest

from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import first_equal, full_like, lanes_of, least, load, maximum, minimum, splat, store


@array_kernel
def every_operation(data, out, lanes):
    first, second = load(data, 1, lanes), splat(data, 0, lanes)
    store(out, 0, minimum(first, second) + first * second)
    store(out, len(lanes), maximum(first, second) - full_like(0.5, first))
    low = least(first)
    return low, first_equal(first, low)


@pytest.mark.parametrize(("dtype", "count"), [(np.float32, 16), (np.float64, 8)])
def test_operations(dtype, count):
    """Loads, arithmetic, minima, the least lane and its first place."""
    data = np.random.default_rng(0).normal(size=count + 1).astype(dtype)
    data[3] = data[6] = data.min() - 1
    out = np.zeros(2 * count, dtype=dtype)
    low, place = every_operation(data, out, lanes_of(count))
    first = data[1:]
    np.testing.assert_allclose(out[:count], np.minimum(first, data[0]) + first * data[0], rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(out[count:], np.maximum(first, data[0]) - dtype(0.5))
    assert (low, place) == (first.min(), 2)
