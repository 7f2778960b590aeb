"""Places lie by variable, and each knows the factor's other end."""

from __future__ import annotations

import numpy as np

from dabp.graph.places import Places
from tests.problems import random_problem


def test_places_of_random_problems() -> None:
    """Checked place by place against the scopes."""
    for seed in range(40):
        problem = random_problem(seed)
        places = Places.of(problem)
        seen = set()
        for row, factor in enumerate(places.factors.tolist()):
            scope = problem.scope(factor).tolist()
            assert places.scopes[row].tolist() == scope
            for side in (0, 1):
                p = int(places.place[row, side])
                seen.add(p)
                i, j = scope[side], scope[1 - side]
                assert places.start[i] <= p < places.start[i + 1]
                assert (p >= places.middle[i]) == (j > i)
                assert (places.variable[p], places.other[p]) == (i, j)
                assert places.partner[p] == places.place[row, 1 - side]
        assert seen == set(range(int(places.start[-1])))


def test_by_level() -> None:
    """The same factors between renumbered variables; neighbours keep their order and are never of one level."""
    for seed in range(40):
        problem = random_problem(seed)
        plain = Places.of(problem)
        places, order, levels = Places.by_level(problem)
        assert sorted(order.tolist()) == list(range(problem.num_variables))
        assert levels[0] == 0
        assert levels[-1] == problem.num_variables
        level = np.searchsorted(levels, np.arange(problem.num_variables), side="right")
        for old, new in zip(plain.scopes.tolist(), places.scopes.tolist(), strict=True):
            assert order[new].tolist() == old
            assert (old[0] < old[1]) == (new[0] < new[1]) == (level[new[0]] < level[new[1]])
