"""The first arguments have the same symbols as the others, in any order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Sum, Symbols, all_symbols, counts, marks
from dabp.problem.globals.cardinality import Bound, Cardinality
from dabp.problem.sums import Judge


@dataclass(frozen=True)
class Same(GlobalFunction):
    """Each symbol occurs among the first `size` arguments as often as among the rest.

    With the differences of the two counts of each symbol, the violation is half their sum (``variables``: those that
    have to change), their sum (``amount``), the sum of their squares (``square``) or their number (``once``). Bounds on
    the counts of both parts violate it in the same measure.
    """

    MEASURES: ClassVar = ("variables", "amount", "square", "once")

    size: int = 0
    bounds: tuple[Bound, ...] = ()

    def violation(self, rows: Indices) -> Floats:
        """By the definition, symbol after symbol."""
        total = np.zeros(len(rows))
        first, second = rows[:, : self.size], rows[:, self.size :]
        for symbol in np.unique(rows).tolist():
            apart = np.abs(counts(first, symbol) - counts(second, symbol))
            total += {"variables": apart / 2, "amount": apart, "square": apart**2, "once": apart > 0}[self.measure]
        return total + self._bounded.violation(first) + self._bounded.violation(second) if self.bounds else total

    @property
    def _bounded(self) -> Cardinality:
        measure = "amount" if self.measure == "variables" else self.measure
        return Cardinality(self.bounds, price=self.price, measure=measure)

    def sums(self, symbols: Symbols) -> Iterator[Sum]:
        """For each symbol the count of one part less that of the other, and the counts that have bounds."""
        measure = "amount" if self.measure == "variables" else self.measure
        judge = Judge(Fraction(0), Fraction(0), self.price, measure, 2 if self.measure == "variables" else 1)
        for symbol in all_symbols(symbols):
            first, second = marks(symbols[: self.size], symbol), marks(symbols[self.size :], symbol)
            yield Sum([*first, *(-mark for mark in second)], judge)
        if self.bounds:
            nobody = [np.full(len(own), -1) for own in symbols]
            yield from self._bounded.sums([*symbols[: self.size], *nobody[self.size :]]) or ()
            yield from self._bounded.sums([*nobody[: self.size], *symbols[self.size :]]) or ()
