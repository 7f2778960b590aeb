"""Tasks of fixed durations that do not overlap."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Symbols


@dataclass(frozen=True)
class Disjunctive(GlobalFunction):
    """Symbols are starts; of two tasks one ends before the other starts. Each pair that overlaps violates it by 1."""

    durations: tuple[int, ...] = ()

    def violation(self, rows: Indices) -> Floats:
        """The number of pairs that overlap."""
        total = np.zeros(len(rows))
        for a, b in itertools.combinations(range(len(self.durations)), 2):
            total += self._overlap(rows[:, a], rows[:, b], a, b)
        return total

    def _overlap(self, first: Indices, second: Indices, a: int, b: int) -> Floats:
        return np.asarray((second < first + self.durations[a]) & (first < second + self.durations[b]), dtype=np.float64)

    def decompose(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """A table for each pair."""
        sizes = np.array([len(own) for own in symbols], dtype=np.int64)
        build.check(int(sizes.sum() ** 2 - (sizes**2).sum()) // 2, f"disjunctive over {len(scope):,} variables")
        for a, b in itertools.combinations(range(len(scope)), 2):
            overlap = self._overlap(symbols[a][:, None], symbols[b][None, :], a, b)
            build.add((scope[a], scope[b]), np.where(overlap > 0, self.price, 0.0))
