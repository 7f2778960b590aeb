"""The binary factors of a problem by *places*: one for each (factor, variable), those of a variable side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dabp.kernels.places import fill_levels, fill_places
from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of


class Strips(NamedTuple):
    """Variables cut into S strips, the variables of a strip into *chunks* of one level, C in all."""

    chunk: Indices
    """The first variable of each chunk, [C + 1]."""
    level: Indices
    """The level of each chunk's variables; levels rise in a strip, [C]."""
    strip: Indices
    """The first chunk of each strip, [S + 1]."""


class Places(NamedTuple):
    """Of each variable, the places whose other variable has a smaller number come first."""

    factors: Indices
    """The problem's factors of arity 2, [F]."""
    scopes: Indices
    """Their variables, [F, 2]."""
    place: Indices
    """The two places of each factor, [F, 2]."""
    start: Indices
    """The first place of each variable, [N + 1]."""
    middle: Indices
    """The first of its places whose other variable has a larger number, [N]."""
    variable: Indices
    """The variable of each place, [2F]."""
    other: Indices
    """The factor's other variable, [2F]."""
    partner: Indices
    """The factor's other place, [2F]."""

    @classmethod
    def of(cls, problem: Problem) -> Places:
        """The places of a problem's binary factors."""
        factors = np.flatnonzero(problem.arities == 2)
        if len(factors) and factors[-1] - factors[0] == len(factors) - 1:  # side by side
            first = problem.scope_offsets[factors[0]]
            scopes = problem.scope_variables[first : first + 2 * len(factors)].reshape(-1, 2)
        else:
            scopes = problem.scope_variables[problem.scope_offsets[factors][:, None] + np.arange(2)]
        return cls._sorted(factors, scopes, problem.num_variables)

    def levels(self) -> Indices:
        """The level of each variable, [N]: one more than the highest of its neighbours with smaller numbers.

        What is done to variables one after the other, each with a look at its neighbours, can be done level by level
        with the same result, to all variables of a level at once: no two of them share a factor.
        """
        level = np.empty(len(self.middle), dtype=np.int64)
        fill_levels(self.start, self.middle, self.other, level)
        return level

    def in_strips(self, level: Indices, strips: int) -> tuple[Places, Indices, Strips]:
        """The same factors with the variables in another order, in which neighbours keep theirs.

        Variables are cut into *strips* of consecutive numbers with about as many factors each; a strip's variables
        lie level by level.

        Returns
        -------
        places, order, strips
            The places by new numbers; the old number of each variable, [N]; where strips and their levels are.
        """
        count = len(self.middle)
        work = self.start + np.arange(count + 1)
        cuts = np.searchsorted(work[1:], work[-1] * np.arange(1, strips) / strips, side="right")
        strip = np.repeat(np.arange(strips), np.diff(cuts, prepend=0, append=count))
        key = strip * (int(level.max(initial=0)) + 1) + level
        order = np.argsort(key if strips > 1 else key.astype(np.int32), kind="stable")
        first = np.flatnonzero(np.diff(key[order], prepend=-1))
        chunks = Strips(
            chunk=np.append(first, count),
            level=level[order[first]],
            strip=np.searchsorted(strip[order[first]], np.arange(strips + 1)),
        )
        number = np.empty(count, dtype=np.int64)
        number[order] = np.arange(count)
        return self._sorted(self.factors, number[self.scopes], count), order, chunks

    @classmethod
    def _sorted(cls, factors: Indices, scopes: Indices, num_variables: int) -> Places:
        """Sort by variable, then by which has the smaller number, then by factor."""
        larger = np.bincount(scopes.min(axis=1), minlength=num_variables)
        smaller = np.bincount(scopes.max(axis=1), minlength=num_variables)
        start = offsets_of(smaller + larger)
        middle = start[:-1] + smaller
        place, columns = np.empty_like(scopes), np.empty((3, scopes.size), dtype=np.int64)
        fill_places(scopes, start[:-1].copy(), middle.copy(), place, columns)
        return cls(factors, scopes, place, start, middle, *columns)
