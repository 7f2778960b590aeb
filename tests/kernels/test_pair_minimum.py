"""The minima of messages, beside NumPy's."""

import numpy as np
import pytest

from dabp.kernels.decorators import kernel
from dabp.kernels.pair_minimum import pair_minimum, pair_minimum_without
from dabp.kernels.simd import lanes_of, store


@kernel
def _minima(tables, step, messages, rows, lanes, out):
    store(out[0], 0, pair_minimum(tables, 3, step, messages, 2, rows, lanes))
    store(out[1], 0, pair_minimum_without(tables, 3, step, messages, 2, rows, lanes))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_minima_are_those_over_the_rows_of_a_table(dtype):
    """The one loop that all messages of two variables are made by: rows that lie `step` apart, from any position."""
    rng = np.random.default_rng(0)
    tables, messages, out = rng.random(60).astype(dtype), rng.random(9).astype(dtype), np.empty((2, 4), dtype)
    _minima(tables, 5, messages, 6, lanes_of(4), out)
    rows = tables[3 : 3 + 30].reshape(6, 5)[:, :4]
    own = messages[2:8, None]
    np.testing.assert_array_equal(out, [(rows + own).min(axis=0), (rows - own).min(axis=0)])
