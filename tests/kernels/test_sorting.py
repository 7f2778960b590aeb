"""Entries grouped by variable, and levels of variables, beside slow and obvious ways."""

from __future__ import annotations

import numpy as np

from dabp.graph.places import Levels, Places
from dabp.kernels.sorting import group_by_variable
from tests.problems import random_problem


def test_entries_are_grouped_in_order() -> None:
    """The entries of each variable, ascending, as a stable sort gives them; variables without any have none."""
    variable = np.array([3, 0, 3, 5, 0, 3])
    variable.flags.writeable = False
    start, entry = np.zeros(8, dtype=np.int64), np.empty(6, dtype=np.int64)
    group_by_variable(variable, start, entry)
    assert entry.tolist() == np.argsort(variable, kind="stable").tolist()
    assert start.tolist() == [0, 2, 2, 2, 5, 5, 6, 6]


def test_levels_are_longest_ways() -> None:
    """Against a calculation over the scopes, edge by edge until nothing changes."""
    for seed in range(40):
        problem = random_problem(seed)
        wanted = np.zeros(problem.num_variables, dtype=np.int64)
        for _ in range(problem.num_variables):
            for i, j in np.sort(Places.of(problem).scopes, axis=1).tolist():
                wanted[j] = max(wanted[j], wanted[i] + 1)
        assert np.array_equal(Levels.of(problem).level, wanted)
