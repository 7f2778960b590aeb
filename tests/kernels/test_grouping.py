"""Entries grouped by variable."""

import numpy as np

from dabp.kernels.grouping import group_by_variable


def test_entries_are_grouped_in_order() -> None:
    """The entries of each variable, ascending, as a stable sort gives them; variables without any have none."""
    variable = np.array([3, 0, 3, 5, 0, 3])
    variable.flags.writeable = False
    start, entry = np.zeros(8, dtype=np.int64), np.empty(6, dtype=np.int64)
    group_by_variable(variable, start, entry)
    assert entry.tolist() == np.argsort(variable, kind="stable").tolist()
    assert start.tolist() == [0, 2, 2, 2, 5, 5, 6, 6]
