"""All arguments have different symbols."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Row, Sum, Symbols, all_symbols, counts, marks
from dabp.problem.sums import Judge


@dataclass(frozen=True)
class AllDifferent(GlobalFunction):
    """No symbol occurs twice, except those of `excepted`.

    A symbol that occurs c times costs c (c − 1)/2 (``pairs``), c − 1 (``variables``: those that have to change),
    (c − 1)² (``squares``) or 1 (``values``).
    """

    MEASURES: ClassVar = ("pairs", "variables", "squares", "values")

    excepted: tuple[int, ...] = ()

    def violation(self, rows: Indices) -> Floats:
        """The sum over symbols that occur more than once."""
        total = np.zeros(len(rows))
        for symbol in np.setdiff1d(rows, self.excepted).tolist():
            more = np.maximum(counts(rows, symbol) - 1, 0)
            amounts = {"pairs": more * (more + 1) // 2, "variables": more, "squares": more**2, "values": more > 0}
            total += amounts[self.measure]
        return total

    def sums(self, symbols: Symbols) -> Iterator[Sum]:
        """At most one argument takes each symbol."""
        measure = {"pairs": "pairs", "variables": "amount", "squares": "square", "values": "once"}[self.measure]
        judge = Judge(None, Fraction(1), self.price, measure)
        shared = [symbol for symbol in all_symbols(symbols) if symbol not in self.excepted]
        return (Sum(marks(symbols, symbol), judge) for symbol in shared)

    def rows(self, symbols: Symbols) -> list[Row]:
        """Those of symbols that two or more arguments have."""
        return [row for row in super().rows(symbols) if sum(c.any() for c in row.coefficients) > 1]

    def decompose(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """Pairs as a table each, other measures as counts of symbols."""
        if not (self.hard or self.measure == "pairs"):
            super().decompose(build, scope, symbols)
            return
        kinds: dict[bytes, int] = {}
        kind = np.array([kinds.setdefault(own.tobytes(), len(kinds)) for own in symbols], dtype=np.int64)
        rows = [np.frombuffer(own, dtype=np.int64) for own in kinds]
        sizes = np.array([len(row) for row in rows], dtype=np.int64)
        total = int(sizes[kind].sum())
        cells = (total**2 - int((sizes**2 * np.bincount(kind, minlength=len(rows))).sum())) // 2
        if build.each is not None:  # each pair counts a little, and each two different domains have a table
            cells = build.each * (len(scope) * (len(scope) - 1) // 2) + int(sizes.sum()) ** 2
        build.check(cells, f"all_different over {len(scope):,} variables")
        first, second = np.triu_indices(len(scope), 1)
        keys = kind[first] * len(rows) + kind[second]
        order, numbers = np.argsort(keys, kind="stable"), np.asarray(scope, dtype=np.int64)
        for pairs in np.split(order, np.flatnonzero(np.diff(keys[order])) + 1) if len(order) else ():
            a, b = divmod(int(keys[pairs[0]]), len(rows))
            equal = (rows[a][:, None] == rows[b][None, :]) & ~np.isin(rows[a], self.excepted)[:, None]
            scopes = np.stack([numbers[first[pairs]], numbers[second[pairs]]], axis=1)
            build.add_many(scopes, np.where(equal, self.price, 0.0))
