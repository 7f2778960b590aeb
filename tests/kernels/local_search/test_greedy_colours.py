"""Greedy colouring."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.graph.grouping import grouped
from dabp.kernels.local_search.greedy_colours import COLOURS, colour


@pytest.mark.parametrize(("size", "found"), [(1, 1), (5, 5), (COLOURS, COLOURS), (COLOURS + 1, -1)])
def test_a_clique_has_as_many_colours_as_variables(size: int, found: int) -> None:
    """Until there are no more."""
    scopes = [*itertools.combinations(range(size), 2), (0,)]
    variables = np.array([v for scope in scopes for v in scope])
    offsets = np.cumsum([0, *map(len, scopes)])
    entry, start = grouped(variables, size)
    colours = np.full(size, -1)
    factor = np.repeat(np.arange(len(scopes)), np.diff(offsets))
    assert colour(offsets, variables, factor, start, entry, colours) == found
    if found > 0:
        assert colours.tolist() == list(range(size))
