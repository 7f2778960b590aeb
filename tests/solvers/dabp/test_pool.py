"""Memory that is used again once nobody holds it."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.solvers.dabp.pool import LEAST_BYTES, Pool


@pytest.mark.parametrize("dtype", [np.float32, np.int32])
def test_memory_comes_back_when_nobody_holds_it(dtype: type) -> None:
    """Not while a view, or a view of a view, still does."""
    pool, kind = Pool(), np.dtype(dtype)
    shape = 2, LEAST_BYTES
    first = pool.empty(shape, kind)
    assert (first.dtype, first.shape) == (kind, shape)
    place, view = first.ctypes.data, first[1][3:]
    del first
    second = pool.empty(shape, kind)
    assert second.ctypes.data != place
    del view
    third = pool.empty(shape, kind)
    assert third.ctypes.data == place
    second[...] = 3
    others = [pool.empty(shape, kind) for _ in range(3)]
    for other in others:
        other[...] = 1
    np.testing.assert_array_equal(second, 3)


def test_small_and_other_sizes() -> None:
    """Each size has memory of its own; small ones are NumPy's; all may be forgotten."""
    pool, kind = Pool(), np.dtype(np.float32)
    sizes = [pool.empty((LEAST_BYTES + n,), kind) for n in (0, 1)]
    assert sizes[0].ctypes.data != sizes[1].ctypes.data
    assert pool.empty((0, 7), kind).shape == (0, 7)
    pool.clear()
    sizes[0][...] = 2.0
    assert sizes[0].sum() == 2 * LEAST_BYTES
