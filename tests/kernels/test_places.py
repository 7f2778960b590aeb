"""Levels: no two variables of one share a factor, and each is as low as its neighbours let it be."""

from __future__ import annotations

import numpy as np

from dabp.graph.places import Places
from dabp.kernels.places import fill_behind, fill_levels
from tests.problems import random_problem


def test_levels_are_longest_ways() -> None:
    """Against a calculation over the scopes, edge by edge until nothing changes."""
    for seed in range(40):
        problem = random_problem(seed)
        places = Places.of(problem)
        level, behind = np.full(problem.num_variables, -1), np.empty(len(places.scopes), dtype=np.int32)
        start = np.append(0, np.cumsum(places.middle - places.start[:-1]))
        scopes = places.scopes.copy()
        scopes.flags.writeable = False
        fill_behind(scopes, start[:-1].copy(), behind)
        fill_levels(start, behind, level)
        wanted = np.zeros(problem.num_variables, dtype=np.int64)
        for _ in range(problem.num_variables):
            for i, j in np.sort(places.scopes, axis=1).tolist():
                wanted[j] = max(wanted[j], wanted[i] + 1)
        assert np.array_equal(level, wanted)
