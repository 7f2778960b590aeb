"""Vectors of fixed length compute what NumPy computes, in both precisions."""

import numpy as np
import pytest

from dabp.kernels.decorators import array_kernel
from dabp.kernels.simd import (
    as_int32,
    first_equal,
    full_like,
    item,
    lanes_of,
    least,
    load,
    maximum,
    minimum,
    rounded_product,
    splat,
    store,
    where_less,
    where_negative,
)


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


@array_kernel
def items(wide, narrow, real, index):
    return item(wide, index), item(narrow, index), item(real, index)


def test_single_items_keep_their_sign():
    """Whole numbers of any width come as int64."""
    wide, narrow, real = np.array([5, -7]), np.array([3, -2], dtype=np.int32), np.array([0.5, -1.5], dtype=np.float32)
    assert [items(wide, narrow, real, k) for k in (0, 1)] == [(5, 3, 0.5), (-7, -2, -1.5)]


@array_kernel
def quotients(data, out, lanes):
    first, second = load(data, 0, lanes), load(data, len(lanes), lanes)
    store(out, 0, first / second)
    store(out, len(lanes), where_negative(first, second, first))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_division_and_choice_by_sign(dtype):
    """Lane by lane; zero of either sign is not negative."""
    data = np.array([-1, 0, -0.0, 3, 4, 5, 6, 7], dtype=dtype)
    out = np.zeros(8, dtype=dtype)
    quotients(data, out, lanes_of(4))
    np.testing.assert_array_equal(out, [*(data[:4] / data[4:]), 4, 0, 0, 3])


@array_kernel
def choices(data, out, whole, lanes):
    first, second = load(data, 0, lanes), load(data, len(lanes), lanes)
    store(out, 0, where_less(first, second, first, second))
    store(out, len(lanes), rounded_product(first, second) - first * second)
    store(whole, 0, as_int32(first))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_comparison_and_whole_numbers(dtype):
    """What is not less is left, numbers that are none too; whole numbers are towards 0; products are rounded once."""
    data = np.array([-1.5, 2.9, 6.0, 3.0, -1.0, 2.9, np.nan, 1 / 3], dtype=dtype)
    out, whole = np.zeros(8, dtype=dtype), np.zeros(4, dtype=np.int32)
    choices(data, out, whole, lanes_of(4))
    np.testing.assert_array_equal(out[:4], [-1.5, data[5], np.nan, data[7]])
    assert whole.tolist() == [-1, 2, 6, 3]
    assert np.abs(out[[4, 5, 7]]).max() <= np.finfo(dtype).eps * 8
