"""The minima of messages, beside NumPy's."""

import numpy as np
import pytest

from dabp.kernels.decorators import kernel
from dabp.kernels.pair_minimum import pair_minima, pair_minimum, pair_minimum_without
from dabp.kernels.simd import lanes_of, store


@kernel
def _minima(tables, step, messages, rows, lanes, out):
    store(out[0], 0, pair_minimum(tables, 3, step, messages, 2, rows, lanes))
    store(out[1], 0, pair_minimum_without(tables, 3, step, messages, 2, rows, lanes))
    first, second = pair_minima(tables, 3, step, messages, 2, 0, rows, lanes)
    store(out[2], 0, first)
    store(out[3], 0, second)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_minima_are_those_over_the_rows_of_a_table(dtype):
    """The one loop that all messages of two variables are made by: rows that lie `step` apart, from any position."""
    rng = np.random.default_rng(0)
    tables, messages, out = rng.random(60).astype(dtype), rng.random(9).astype(dtype), np.empty((4, 4), dtype)
    _minima(tables, 5, messages, 6, lanes_of(4), out)
    rows = tables[3 : 3 + 30].reshape(6, 5)[:, :4]
    own, other = messages[2:8, None], messages[:6, None]
    minima = [one.min(axis=0) for one in (rows + own, rows - own, rows + own, rows + other)]
    np.testing.assert_array_equal(out, minima)
