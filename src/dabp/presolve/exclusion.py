"""Sets of values of which at most one can be taken: cliques among the pairs of values that factors forbid.

A bound from single factors allows half of each of n mutually exclusive values; a bound from the whole set does not.
Files state such sets as pairs: all-different, cliques, independent sets, packing, distances between channels.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import Indices, cells_of_tables, offsets_of, ragged_positions
from dabp.problem.guard import Guard

PER_VALUE = 6
"""The most sets for a value on average: with more, search is slowed down by more than their bound helps."""

Exclusion = dict[int, list[int]]
"""Variable → values of it; at most one variable takes one of them."""


def exclusions(problem: Problem, guard: Guard | None = None) -> list[Exclusion]:
    """Sets over three or more variables, found greedily among the cells that binary factors forbid.

    Each forbidden pair of values that no clique contains yet starts one, of values that exclude each other (two values
    of one variable always do); cliques with most new pairs per value come first. Nothing is searched for in more than a
    million pairs or 20,000 values.
    """
    first, second = conflicts(problem, 1_000_000)
    if not len(first):
        return []
    values, ends = np.unique(np.concatenate([first, second]), return_inverse=True)
    if len(values) > 20_000:
        return []
    starts = offsets_of(problem.domain_sizes)
    variables = np.searchsorted(starts, values, side="right") - 1
    excluding = _Conflicts(variables, ends[: len(first)], ends[len(first) :])
    found = [
        (gain, clique)
        for gain, clique in excluding.cliques(guard)
        if (concerned := len(np.unique(variables[clique]))) > 2 and len(clique) <= 3 * concerned
    ]
    found.sort(key=lambda gained: -gained[0] / len(gained[1]))
    times = np.zeros(len(values), dtype=np.int64)
    kept = []
    for _, clique in found:
        if times[clique].mean() < PER_VALUE:
            times[clique] += 1
            kept.append(_by_variable(variables[clique], values[clique] - starts[variables[clique]]))
    return kept


def conflicts(problem: Problem, most: int) -> tuple[Indices, Indices]:
    """The forbidden pairs of values of two variables, values numbered through all domains; none if more than `most`."""
    nothing = np.zeros(0, dtype=np.int64)
    group = next((group for group in problem.facts.arity_groups if group.variables.shape[1] == 2), None)
    if group is None or not problem.facts.forbidding.any():
        return nothing, nothing
    # Only tables of binary factors: others may be much larger and forbid nearly all combinations.
    used, which = np.unique(problem.factor_table[group.factors], return_inverse=True)
    offsets = offsets_of(np.diff(problem.pool_offsets)[used])
    forbidden = np.flatnonzero(np.isinf(cells_of_tables(problem, used)))
    table = np.searchsorted(offsets, forbidden, side="right") - 1
    counts = np.bincount(table, minlength=len(used))
    of_factor = counts[which]
    if not 0 < int(of_factor.sum()) <= most:
        return nothing, nothing
    cell = (forbidden - offsets[table])[ragged_positions(offsets_of(counts), which)]
    owner = np.repeat(np.arange(len(which)), of_factor)
    x, y = group.variables[owner, 0], group.variables[owner, 1]
    row, column = np.divmod(cell, problem.domain_sizes[y])
    starts = offsets_of(problem.domain_sizes)
    return starts[x] + row, starts[y] + column


def _by_variable(variables: Indices, values: Indices) -> Exclusion:
    sets: Exclusion = {}
    for variable, value in zip(variables.tolist(), values.tolist(), strict=True):
        sets.setdefault(variable, []).append(value)
    return sets


class _Conflicts:
    """A graph of values that exclude each other, its rows as sets of bits."""

    def __init__(self, variables: Indices, first: Indices, second: Indices):
        count = len(variables)
        ends = np.concatenate([first, second])
        others = np.concatenate([second, first])[np.argsort(ends, kind="stable")]
        self._rows = [bits(part, count) for part in np.split(others, np.bincount(ends).cumsum()[:-1])]
        self._left = list(self._rows)
        """Pairs that no clique contains yet."""
        starts = np.flatnonzero(np.diff(variables, prepend=-1)).tolist()
        for start, end in zip(starts, [*starts[1:], count], strict=True):
            own = (1 << end) - (1 << start)
            for value in range(start, end):
                self._rows[value] |= own & ~(1 << value)
        self._work = 200_000_000 // max(count, 1000)

    def cliques(self, guard: Guard | None) -> Iterator[tuple[int, Indices]]:
        """Cliques with the number of conflicts that earlier ones do not contain, until all are covered or work ends."""
        order = sorted(range(len(self._rows)), key=lambda value: -self._left[value].bit_count())
        for value in order:
            while self._left[value]:
                if self._work <= 0 or (guard is not None and guard.over):
                    return
                clique = self._grow(value)
                yield self._cover(clique), np.array(clique)

    def _grow(self, value: int) -> list[int]:
        """A maximal clique around a value and one of its uncovered conflicts, rich in candidates and new conflicts."""
        other = (self._left[value] & -self._left[value]).bit_length() - 1
        clique, held = [value, other], 1 << value | 1 << other
        candidates = self._rows[value] & self._rows[other]
        while candidates:
            best, most = -1, -1
            for candidate in members_of(candidates):
                worth = (self._rows[candidate] & candidates).bit_count() + (self._left[candidate] & held).bit_count()
                self._work -= 1
                if worth > most:
                    best, most = candidate, worth
            clique.append(best)
            held |= 1 << best
            candidates &= self._rows[best]
        return sorted(clique)

    def _cover(self, clique: list[int]) -> int:
        """Remove a clique's pairs from those that are left; returns their number."""
        held = sum(1 << value for value in clique)
        covered = 0
        for value in clique:
            covered += (self._left[value] & held).bit_count()
            self._left[value] &= ~held
        return covered // 2


def bits(members: Indices, count: int) -> int:
    """A set of numbers below `count` as the bits of one number."""
    present = np.zeros(count, dtype=bool)
    present[members] = True
    return int.from_bytes(np.packbits(present, bitorder="little").tobytes(), "little")


def members_of(numbers: int) -> Iterator[int]:
    """The numbers in such a set, from the least."""
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest
