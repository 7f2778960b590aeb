"""The sum of the arguments' symbols is within bounds: counts, linear sums, knapsacks, distances between assignments."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import ClassVar

import numpy as np

from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Sum, Symbols
from dabp.problem.sums import Judge


@dataclass(frozen=True)
class Linear(GlobalFunction):
    """``low ≤ Σ symbol / denominator ≤ high``; symbols are coefficients times values, or 1 for what is counted.

    A sum that is outside by an amount a costs a (``amount``), 1 (``once``) or a² (``square``).
    """

    MEASURES: ClassVar = ("amount", "once", "square")

    low: Fraction | None = None
    high: Fraction | None = None
    denominator: int = 1
    different: bool = False
    """Whether sums within the bounds violate it, by 1, and no others."""

    @cached_property
    def judge(self) -> Judge:
        """What totals in units of 1/denominator cost."""
        low, high = (None if one is None else one * self.denominator for one in (self.low, self.high))
        return Judge(low, high, self.price, self.measure, self.denominator, self.different)

    def violation(self, rows: Indices) -> Floats:
        """How far the sums are outside."""
        totals, which = np.unique(rows.sum(axis=1), return_inverse=True)
        return np.array([float(self.judge.violation(total)) for total in totals.tolist()], dtype=np.float64)[which]

    def costs(self, rows: Indices) -> Floats:
        """What the sums cost, each rounded once."""
        return self.judge.costs(rows.sum(axis=1))

    def sums(self, symbols: Symbols) -> list[Sum]:
        """The only one: its terms are the symbols."""
        return [Sum(symbols, self.judge)]


COMPARISONS = ("<", "<=", "==", "!=", ">=", ">")


def compared(comparison: str, bound: int, price: float, measure: str = "amount") -> Linear:
    """A sum of integers that is compared with an integer."""
    at = Fraction(bound + (comparison == ">") - (comparison == "<"))
    low = at if comparison in (">", ">=", "==", "!=") else None
    high = at if comparison in ("<", "<=", "==", "!=") else None
    return Linear(low, high, price=price, measure=measure, different=comparison == "!=")


def hits(values: Sequence[int], size: int) -> Indices:
    """1 for each of `size` values that is one of these, else 0."""
    marked = np.zeros(size, dtype=np.int64)
    marked[[value for value in values if 0 <= value < size]] = 1
    return marked
