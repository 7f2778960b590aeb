"""The largest change is NumPy's."""

from __future__ import annotations

import numpy as np
import pytest

from dabp.kernels.attention.change import largest_change
from dabp.kernels.attention.dense import ROWS, blocks_of


@pytest.mark.parametrize(("rows", "width"), [(1, 3), (1, 8), (5, 15), (ROWS + 1, 5), (3 * ROWS, 2)])
def test_equals_numpy(rows: int, width: int) -> None:
    """Fewer numbers than a vector has, more, and several blocks; up and down."""
    rng = np.random.default_rng(rows)
    before, after = rng.normal(size=(2, rows, width)).astype(np.float32)
    for sign in (1.0, -1.0):
        after[rng.integers(rows), rng.integers(width)] = 9.0 * sign
        found = np.zeros(blocks_of(rows), np.float32)
        largest_change(0, len(found), before, after, found)
        assert found.max() == np.abs(after - before).max()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("width", [3, 15])
def test_what_is_not_finite_is_no_small_change(bad: float, width: int) -> None:
    """Otherwise messages that were spoilt would look as if they had converged."""
    before, after = np.zeros((2, 2, width), np.float32)
    after[0, 1] = bad
    found = np.zeros(1, np.float32)
    largest_change(0, 1, before, after, found)
    assert not found[0] < 1e30
