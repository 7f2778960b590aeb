"""The arguments' symbols, read one after the other, are a word of a context-free grammar in Chomsky's normal form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dabp.errors import ProblemError
from dabp.problem.blocks import DEFINING, Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Symbols, priced
from dabp.problem.globals.regular import FAR, MOST
from dabp.problem.sums import exact_numbers


@dataclass(frozen=True)
class Grammar(GlobalFunction):
    """The cheapest parse; a word without one violates it.

    The violation is the least number of symbols to change so that there is a parse (``changes``), or 1 (``once``). With
    ``weights`` it is the least sum of weights of a parse, and a word without one is forbidden.
    """

    MEASURES: ClassVar = ("once", "changes", "weights")

    nonterminals: int = 1
    start: int = 0
    terminals: tuple[tuple[int, int, float], ...] = ()
    """Nonterminal, symbol, weight."""
    productions: tuple[tuple[int, int, int, float], ...] = ()
    """Nonterminal, its left and right part, weight."""

    def __post_init__(self) -> None:
        super().__post_init__()
        named = [self.start, *(each[0] for each in self.terminals), *(a for each in self.productions for a in each[:3])]
        if wrong := [one for one in named if not 0 <= one < self.nonterminals]:
            raise ProblemError(f"{wrong[0]} is not one of the {self.nonterminals} nonterminals of a grammar")

    @property
    def own_cells(self) -> int:
        """Of the distances of all nonterminals."""
        return self.nonterminals * (1 + len(self.terminals))

    @cached_property
    def _whole(self) -> tuple[list[int], int]:
        """The weights of terminals and productions in whole units, and units to a 1."""
        weights = [each[-1] if self.measure == "weights" else 0.0 for each in (*self.terminals, *self.productions)]
        whole, unit = exact_numbers(weights, "a weight of a grammar")
        if max(map(abs, whole), default=0) > MOST:
            raise ProblemError("the weights of a grammar are too large, or have too many decimals, to be added up")
        return whole, unit

    def _leaves(self, symbols: Indices) -> Indices:
        """The distance of each nonterminal from each symbol, [symbols, nonterminals]."""
        distances = np.full((len(symbols), self.nonterminals), FAR, dtype=np.int64)
        for (nonterminal, symbol, _), weight in zip(self.terminals, self._whole[0], strict=False):
            column = distances[:, nonterminal]
            if self.measure == "changes":
                np.minimum(column, 1, out=column)
            np.minimum(column, weight, out=column, where=symbols == symbol)
        return distances

    def _joined(self, left: Indices, right: Indices) -> Indices:
        """Distances of nonterminals from those of two parts of a word, [n, nonterminals] each."""
        distances = np.full(left.shape, FAR, dtype=np.int64)
        weights = self._whole[0][len(self.terminals) :]
        for (whole, first, second, _), weight in zip(self.productions, weights, strict=True):
            np.minimum(distances[:, whole], left[:, first] + right[:, second] + weight, out=distances[:, whole])
        return np.where(distances >= FAR // 2, FAR, distances)

    def _amounts(self, distances: Indices) -> Floats:
        least = distances[..., self.start]
        if self.measure == "once":
            return (least >= FAR // 2).astype(np.float64)
        return np.where(least >= FAR // 2, np.inf, least / self._whole[1])

    def violation(self, rows: Indices) -> Floats:
        """By the distances of all parts of the word, the shorter ones first."""
        count = rows.shape[1]
        if not count:
            return self._amounts(np.full((len(rows), self.nonterminals), FAR))
        part = {(i, i): self._leaves(rows[:, i]) for i in range(count)}
        for length in range(1, count):
            for i in range(count - length):
                j = i + length
                ways = [self._joined(part[i, k], part[k + 1, j]) for k in range(i, j)]
                part[i, j] = np.minimum.reduce(ways)
        return self._amounts(part[0, count - 1])

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """An auxiliary variable for each part of the word: the distances of all nonterminals from it."""
        count, what = len(scope), f"grammar over {len(scope):,} variables"
        build.check(DEFINING * (build.each or 1) * count * (count**2 - 1) // 6, what)  # ways to split all parts
        part: dict[tuple[int, int], tuple[int, Indices]] = {}
        for i, own in enumerate(symbols):
            rows, place = np.unique(self._leaves(own), axis=0, return_inverse=True)
            part[i, i] = build.define([scope[i]], place.ravel(), len(rows)), rows
        for length in range(1, count):
            for i in range(count - length):
                j = i + length
                part[i, j] = self._split(build, part[i, i], part[i + 1, j], None, what)
                for k in range(i + 1, j):
                    part[i, j] = self._split(build, part[i, k], part[k + 1, j], part[i, j], what)
        number, rows = part[0, count - 1]
        build.add([number], priced(self._amounts(rows), self.price))

    def _split(
        self,
        build: Building,
        left: tuple[int, Indices],
        right: tuple[int, Indices],
        before: tuple[int, Indices] | None,
        what: str,
    ) -> tuple[int, Indices]:
        """A variable for the least of the distances by joining two parts, and those of another variable."""
        build.check(len(left[1]) * len(right[1]) * self.nonterminals, what)
        a, b = np.divmod(np.arange(len(left[1]) * len(right[1])), len(right[1]))
        rows, place = np.unique(self._joined(left[1][a], right[1][b]), axis=0, return_inverse=True)
        build.check(len(a) * len(rows), what)
        number = build.define([left[0], right[0]], place.reshape(len(left[1]), -1), len(rows))
        if before is None:
            return number, rows
        build.check(len(before[1]) * len(rows) * self.nonterminals, what)
        both = np.minimum(before[1][:, None, :], rows[None, :, :]).reshape(-1, self.nonterminals)
        least, place = np.unique(both, axis=0, return_inverse=True)
        build.check(len(both) * len(least), what)
        return build.define([before[0], number], place.reshape(len(before[1]), -1), len(least)), least
