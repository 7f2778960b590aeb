"""The binary factors of a problem by *places*: one for each (factor, variable), those of a variable side by side."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from dabp.graph.grouping import grouped
from dabp.kernels.sorting import fill_levels, fill_places
from dabp.problem import Problem
from dabp.problem.columns import Indices, as_fixed, offsets_of


class Strips(NamedTuple):
    """Variables cut into S strips, the variables of a strip into *chunks* of one level, C in all."""

    chunk: Indices
    """The first variable of each chunk, [C + 1]."""
    level: Indices
    """The level of each chunk's variables; levels rise in a strip, [C]."""
    strip: Indices
    """The first chunk of each strip, [S + 1]."""


class Levels(NamedTuple):
    """Levels of variables, no two of which in a level share a factor.

    A pass that updates variables one after the other, each from its neighbours, gives the same result level by level
    with all variables of a level at once.
    """

    level: Indices
    """One more than the highest of a variable's neighbours with smaller numbers, 0 without any, [N]."""
    degree: Indices
    """The number of binary factors of each variable, [N]."""

    @classmethod
    def of(cls, problem: Problem) -> Levels:
        """The levels of a problem's variables."""
        _, scopes = _binary(problem)
        smaller, larger = np.minimum(*scopes.T), np.maximum(*scopes.T)
        entries, start = grouped(larger, problem.num_variables)
        level = np.empty(problem.num_variables, dtype=np.int64)
        fill_levels(start, smaller[entries], level)
        return cls(level, np.diff(start) + np.bincount(smaller, minlength=problem.num_variables))


class Places(NamedTuple):
    """The places of a variable are those of neighbours with smaller numbers, then those of the others."""

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
        return cls._sorted(*_binary(problem), problem.num_variables)

    @classmethod
    def in_strips(cls, problem: Problem, levels: Levels, strips: int) -> tuple[Places, Indices, Strips]:
        """The places of the problem with its variables in another order, which keeps the order of neighbours.

        Variables are cut into *strips* of consecutive numbers with about equal numbers of factors; inside a strip
        they lie level by level.

        Returns
        -------
        places, order, strips
            The places by new numbers; the old number of each variable, [N]; the strips and their levels.
        """
        count, level = problem.num_variables, levels.level
        work = offsets_of(levels.degree + 1)
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
        factors, scopes = _binary(problem)
        return cls._sorted(factors, number[scopes], count), order, chunks

    @classmethod
    def _sorted(cls, factors: Indices, scopes: Indices, num_variables: int) -> Places:
        """Sort by variable, then by which has the smaller number, then by factor."""
        larger = np.bincount(np.minimum(*scopes.T), minlength=num_variables)
        smaller = np.bincount(np.maximum(*scopes.T), minlength=num_variables)
        start = offsets_of(smaller + larger)
        middle = start[:-1] + smaller
        place, columns = np.empty(scopes.shape, dtype=np.int64), np.empty((3, scopes.size), dtype=np.int64)
        fill_places(as_fixed(scopes), start[:-1].copy(), middle.copy(), place, columns)
        return cls(factors, scopes, place, start, middle, *columns)


def _binary(problem: Problem) -> tuple[Indices, Indices]:
    """A problem's factors of arity 2, and their scopes, [F, 2]."""
    factors = np.flatnonzero(problem.arities == 2)
    if len(factors) and factors[-1] - factors[0] == len(factors) - 1:  # side by side
        first = problem.scope_offsets[factors[0]]
        scopes = problem.scope_variables[first : first + 2 * len(factors)].reshape(-1, 2)
    else:
        scopes = problem.scope_variables[problem.scope_offsets[factors][:, None] + np.arange(2)]
    return factors, scopes
