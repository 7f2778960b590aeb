"""Parts of a pairwise problem, with all other variables fixed at their values."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.graph.places import Places
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, cells_of_tables, offsets_of, ragged_positions, unary_costs


class Window(NamedTuple):
    """Some variables of a problem as a problem of their own."""

    problem: Problem
    variables: Indices
    """Their numbers in the whole problem, in rising order."""


class Surroundings:
    """Cuts windows out of a problem whose factors have two variables at most, without Python loops over variables.

    Parameters
    ----------
    problem
        The whole.
    """

    def __init__(self, problem: Problem):
        self._problem, self._places = problem, Places.of(problem)
        self._unary, self._start = unary_costs(problem)
        self._begin = problem.pool_offsets[problem.factor_table[self._places.factors]]
        self._factor = np.empty(self._places.place.size, dtype=np.int64)
        """[2F]: the factor of each place, by its row in `Places`."""
        self._factor[self._places.place] = np.arange(len(self._places.place))[:, None]

    def nearest(self, variable: int, costs: int) -> tuple[Indices, Indices]:
        """Variables around one until their messages have `costs` numbers, nearest first; and the first half of them."""
        places, sizes = self._places, self._problem.domain_sizes
        seen = np.zeros(len(sizes), dtype=bool)
        seen[variable] = True
        rings = [np.array([variable])]
        left = costs
        while len(rings[-1]) and left > 0:
            ring = rings[-1]
            left -= int((sizes[ring] * (places.start[ring + 1] - places.start[ring])).sum())
            near = places.other[ragged_positions(places.start, ring)]
            near = np.unique(near[~seen[near]])
            seen[near] = True
            rings.append(near)
        near = np.concatenate(rings[:-1] if left <= 0 else rings)
        return near, near if left > 0 else near[: -(-len(near) // 2)]

    def window(self, variables: Indices, values: Assignment) -> Window:
        """The problem of some variables while all others have these values: Σ f(x_inside, values_outside).

        Factors outside are left out, so costs differ from those of the whole problem by a constant.
        """
        problem, places, variables = self._problem, self._places, np.sort(variables)
        inside = np.zeros(problem.num_variables, dtype=bool)
        inside[variables] = True
        number = np.cumsum(inside) - 1
        sizes = problem.domain_sizes[variables]
        start, count = offsets_of(sizes), len(variables)
        unary = self._unary[ragged_positions(self._start, variables)]
        candidates = np.unique(self._factor[ragged_positions(places.start, variables)])
        ends = inside[places.scopes[candidates]]
        for side in (0, 1):
            edge = candidates[ends[:, side] & ~ends[:, 1 - side]]
            self._hold(edge, side, values, unary, start[number[places.scopes[edge, side]]])
        kept = candidates[ends.all(axis=1)]
        tables, used = np.unique(problem.factor_table[places.factors[kept]], return_inverse=True)
        cells = offsets_of(np.diff(problem.pool_offsets)[tables])
        part = Problem(
            sizes,
            np.concatenate([np.arange(count), number[places.scopes[kept]].ravel()]),
            np.concatenate([np.arange(count), count + 2 * np.arange(len(kept) + 1)]),
            np.concatenate([unary, cells_of_tables(problem, tables)]),
            np.concatenate([start[:-1], start[-1] + cells]),
            np.concatenate([np.arange(count), count + used]),
        )
        return Window(part, variables)

    def _hold(
        self, factors: Indices, side: int, values: Assignment, unary: NDArray[np.float64], start: Indices
    ) -> None:
        """Add the costs of factors given the value of one variable to the unary costs of the variable on `side`."""
        scopes = self._places.scopes[factors]
        sizes, width = self._problem.domain_sizes[scopes[:, side]], self._problem.domain_sizes[scopes[:, 1]]
        one = np.ones_like(width)
        own, other = (width, one) if side == 0 else (one, width)
        value = np.arange(int(sizes.sum())) - np.repeat(offsets_of(sizes)[:-1], sizes)
        first = self._begin[factors] + other * values[scopes[:, 1 - side]]
        cells = np.repeat(first, sizes) + np.repeat(own, sizes) * value
        np.add.at(unary, np.repeat(start, sizes) + value, self._problem.pool[cells])
