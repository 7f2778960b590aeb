"""Each of some symbols occurs within its own bounds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, NamedTuple

import numpy as np

from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.exactness import decimal
from dabp.problem.globals.base import Floats, GlobalFunction, Row, Sum, Symbols, counts, marks
from dabp.problem.sums import Judge


class Bound(NamedTuple):
    """How often a symbol may occur, and what each occurrence too few or too many counts."""

    symbol: int
    low: int
    high: int
    shortage: float = 1.0
    excess: float = 1.0


@dataclass(frozen=True)
class Cardinality(GlobalFunction):
    """Symbols occur as often as their bounds say; others as often as they like.

    With the shortages and excesses of symbols, the violation is their weighted sum (``amount``), the sum of their
    squares (``square``), the number of symbols that have one (``once``), or the larger of all shortages and all
    excesses (``variables``: those that have to change).
    """

    MEASURES: ClassVar = ("amount", "variables", "square", "once")

    bounds: tuple[Bound, ...] = ()

    def violation(self, rows: Indices) -> Floats:
        """By the definition, symbol after symbol."""
        total, short, over = np.zeros(len(rows)), np.zeros(len(rows)), np.zeros(len(rows))
        for bound in self.bounds:
            number = counts(rows, bound.symbol)
            few, many = np.maximum(bound.low - number, 0), np.maximum(number - bound.high, 0)
            short, over = short + few, over + many
            if self.measure == "amount":
                total += few * bound.shortage + many * bound.excess
            else:
                total += np.maximum(few, many) ** 2 if self.measure == "square" else np.maximum(few, many) > 0
        return np.maximum(short, over) if self.measure == "variables" else total

    def sums(self, symbols: Symbols) -> Iterator[Sum] | None:
        """A count for each symbol, or two where shortages and excesses count differently."""
        return None if self.measure == "variables" and not self.hard else self._counts(symbols)

    def _counts(self, symbols: Symbols) -> Iterator[Sum]:
        for bound in self.bounds:
            terms = marks(symbols, bound.symbol)
            low, high = Fraction(bound.low), Fraction(bound.high)
            weights = (1.0, 1.0) if self.measure != "amount" else (bound.shortage, bound.excess)
            if weights[0] == weights[1]:
                yield Sum(terms, Judge(low, high, _times(self.price, weights[0]), self.measure))
            else:
                yield Sum(terms, Judge(low, None, _times(self.price, weights[0]), self.measure))
                yield Sum(terms, Judge(None, high, _times(self.price, weights[1]), self.measure))

    def rows(self, symbols: Symbols) -> list[Row]:
        """Those of the counts; where the larger of two sums counts, half of each."""
        if self.measure != "variables" or self.hard:
            return super().rows(symbols)
        halved = Cardinality(self.bounds, price=self.price / 2)
        return halved.rows(symbols)

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """Counters of all symbols, and then all shortages and all excesses added up over the symbols."""
        what = f"gcc over {len(scope):,} variables"
        totals, state = [(0, 0)], None
        for bound in self.bounds:
            counter, size = _counted(build, scope, [own == bound.symbol for own in symbols], what)
            few = np.maximum(bound.low - np.arange(size), 0).tolist()
            many = np.maximum(np.arange(size) - bound.high, 0).tolist()
            sums = [[(a + s, b + e) for s, e in zip(few, many, strict=True)] for a, b in totals]
            after = sorted({each for row in sums for each in row})
            build.check(len(totals) * size * len(after), what)
            place = {each: number for number, each in enumerate(after)}
            step = np.array([[place[each] for each in row] for row in sums], dtype=np.int64)
            state = (
                build.define([counter], step[0], len(after))
                if state is None
                else build.define([state, counter], step, len(after))
            )
            totals = after
        if state is not None:
            build.add([state], np.array([0.0 if not max(each) else self.price * max(each) for each in totals]))


def _counted(build: Building, scope: Sequence[int], marks: Sequence[Floats], what: str) -> tuple[int, int]:
    """An auxiliary variable that is the number of marked values taken, and its domain size."""
    state, size = -1, 1
    for number, (variable, mark) in enumerate(zip(scope, marks, strict=True)):
        one = mark.astype(np.int64)
        build.check(size * len(one) * (size + 1), what)
        if number == 0:
            state = build.define([variable], one, 2)
        else:
            state = build.define([state, variable], np.add.outer(np.arange(size), one), size + 1)
        size += 1
    return state, size


def _times(price: float, weight: float) -> float:
    """A price times a weight, rounded once; 0 of anything is 0."""
    return 0.0 if not weight else price if price == np.inf else float(decimal(price) * decimal(weight))
