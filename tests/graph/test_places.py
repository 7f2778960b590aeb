"""Places lie by variable, and each knows the factor's other end."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dabp.graph.places import Levels, Places
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


@pytest.mark.parametrize("strips", [1, 3, 16])
def test_in_strips(strips: int) -> None:
    """The same factors between renumbered variables: strips of consecutive numbers, in each level after level."""
    for seed in range(40):
        problem = random_problem(seed)
        plain = Places.of(problem)
        level, degree = Levels.of(problem)
        assert degree.tolist() == np.diff(plain.start).tolist()
        places, order, cut = Places.in_strips(problem, Levels(level, degree), strips)
        assert sorted(order.tolist()) == list(range(problem.num_variables))
        assert (cut.strip[0], cut.strip[-1], len(cut.strip)) == (0, len(cut.level), strips + 1)
        assert (cut.chunk[0], cut.chunk[-1]) == (0, problem.num_variables)
        smallest = 0
        for first, last in itertools.pairwise(cut.strip.tolist()):
            members = order[cut.chunk[first] : cut.chunk[last]]
            assert sorted(members.tolist()) == list(range(smallest, smallest + len(members)))
            smallest += len(members)
            assert (np.diff(cut.level[first:last]) > 0).all()
            for chunk in range(first, last):
                assert (level[order[cut.chunk[chunk] : cut.chunk[chunk + 1]]] == cut.level[chunk]).all()
        for old, new in zip(plain.scopes.tolist(), places.scopes.tolist(), strict=True):
            assert order[new].tolist() == old
            assert (old[0] < old[1]) == (new[0] < new[1]) == (level[old[0]] < level[old[1]])
