"""The cost of another problem on the arguments is within bounds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Symbols
from dabp.problem.sums import Judge, add_sum, exact, exact_numbers, whole_terms


@dataclass(frozen=True)
class CostBetween(GlobalFunction):
    """``low ≤ cost < high`` for a sum of tables over the arguments; what a table forbids violates it, too."""

    low: float = -math.inf
    high: float = math.inf
    parts: tuple[tuple[tuple[int, ...], tuple[int, ...], tuple[float, ...]], ...] = ()
    """Of each table the arguments, their numbers of values, and the costs, the last argument's fastest."""

    def violation(self, rows: Indices) -> Floats:
        """1 where the total is outside."""
        total = np.zeros(len(rows), dtype=object)
        forbidden = np.zeros(len(rows), dtype=np.bool_)
        for axes, shape, costs in self.parts:
            own = np.array(costs)[np.ravel_multi_index(tuple(rows[:, axis] for axis in axes), shape)]
            forbidden |= np.isinf(own)
            total += [exact(one, "a cost") for one in np.where(np.isinf(own), 0.0, own).tolist()]
        low, high = (one if math.isinf(one) else exact(one, "a bound") for one in (self.low, self.high))
        inside = [low <= one < high for one in total]
        return (forbidden | ~np.array(inside, dtype=np.bool_)).astype(np.float64)

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """An auxiliary variable for what each table costs, and their sum within the bounds."""
        variables, rows, weights = list[int](), [], list[Fraction]()
        for axes, shape, costs in self.parts:
            table = np.array(costs).reshape(shape)[np.ix_(*(symbols[axis] for axis in axes))]
            build.add([scope[axis] for axis in axes], np.where(np.isinf(table), self.price, 0.0))
            different, place = np.unique(np.where(np.isinf(table), 0.0, table), return_inverse=True)
            build.check(table.size * len(different), f"{self.name} over {len(scope):,} variables")
            rows.append(exact_numbers(different.tolist(), "a cost"))
            weights.append(Fraction(1))
            variables.append(build.define([scope[a] for a in axes], place.reshape(table.shape), len(different)))
        terms, unit = whole_terms(weights, rows)
        low = None if math.isinf(self.low) else Fraction(math.ceil(exact(self.low, "a bound") * unit))
        high = None if math.isinf(self.high) else Fraction(math.ceil(exact(self.high, "a bound") * unit) - 1)
        add_sum(build, variables, terms, Judge(low, high, self.price, "once", unit), self.name)
