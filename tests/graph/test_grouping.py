"""Entries grouped by variable, few of them by NumPy and many by a kernel."""

import numpy as np
import pytest

from dabp.graph import grouping
from dabp.graph.grouping import grouped


@pytest.mark.parametrize("few", [0, 10**6])
@pytest.mark.parametrize("count", [1, 7, 300])
def test_both_ways_sort_stably(few: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stable sort and where each variable's entries start, also of a column that is no contiguous array."""
    monkeypatch.setattr(grouping, "FEW", few)
    pairs = np.random.default_rng(count).integers(0, count, (500, 2))
    for variables in (pairs[:, 1], pairs.ravel(), pairs[:0, 0]):
        order, start = grouped(variables, count + 2)
        assert order.tolist() == np.argsort(variables, kind="stable").tolist()
        assert np.diff(start).tolist() == np.bincount(variables, minlength=count + 2).tolist()
