"""What is known of a problem's totals without any assignment: how large, how exact, how near to the limit.

A part of `Problem`. Integers and decimals are exact; for real costs every statement allows for what rounding can have
done, `Totals.rounding_error`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dabp.problem.exactness import UNIT_ROUNDOFF, decimal, first_excluded, least_digits

_BLOCK = 2**20  # cells looked at in one go, so that what is temporary stays small


class Totals:
    """Sums of costs; `Problem` inherits it and makes the columns."""

    pool: NDArray[np.float64]
    pool_offsets: NDArray[np.int64]
    factor_table: NDArray[np.int64]
    constant: float
    limit: float | None
    maximize: bool
    factor_costs: Callable[[ArrayLike], NDArray[np.float64]]

    @cached_property
    def integral(self) -> bool:
        """Whether every finite cost (and the constant) is an integer."""
        return self.constant == round(self.constant) and self.integral_tables

    @cached_property
    def integral_tables(self) -> bool:
        """Whether every finite cost is an integer, whatever the constant."""
        parts = (self.pool[i : i + _BLOCK] for i in range(0, len(self.pool), _BLOCK))
        return all((part == np.rint(part)).all() for part in parts)

    @cached_property
    def magnitude(self) -> float:
        """The sum of each factor's largest finite cost by size, and the constant's: no total is larger."""
        return self.table_magnitude + abs(self.constant)

    @cached_property
    def table_magnitude(self) -> float:
        """The sum of each factor's largest finite cost by size, the constant left out."""
        lowest, highest = self.finite_extremes
        return float(np.maximum(np.abs(lowest), np.abs(highest))[self.factor_table].sum())

    @cached_property
    def finite_extremes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest finite cost of each table, [T]; 0 where nothing is finite."""
        lowest, highest = self.extremes
        if self.forbidding.any():
            barred = np.isinf(self.pool)
            lowest = self.per_table(np.minimum, np.where(barred, np.inf, self.pool))
            highest = self.per_table(np.maximum, np.where(barred, -np.inf, self.pool))
            nothing = np.isinf(lowest)
            lowest[nothing] = highest[nothing] = 0.0
            lowest.flags.writeable = highest.flags.writeable = False
        return lowest, highest

    @cached_property
    def extremes(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The least and the largest cost of each table, forbidden ones included, [T]; 0 for an empty one."""
        lowest, highest = self.per_table(np.minimum), self.per_table(np.maximum)
        lowest.flags.writeable = highest.flags.writeable = False
        return lowest, highest

    @cached_property
    def forbidding(self) -> NDArray[np.bool_]:
        """Whether each table forbids anything, [T]."""
        lowest, highest = self.extremes
        return np.isinf(lowest) | np.isinf(highest)

    def per_table(self, operation: np.ufunc, cells: NDArray[Any] | None = None) -> NDArray[Any]:
        """Reduce the pool, or as many other numbers, table by table: one for each, 0 for an empty one, [T]."""
        values = self.pool if cells is None else cells
        filled, starts = self.filled_tables
        if len(starts) == len(filled) > 0:
            return np.asarray(operation.reduceat(values, starts), dtype=values.dtype)
        result = np.zeros(len(filled), dtype=values.dtype)
        if len(starts):
            result[filled] = operation.reduceat(values, starts)
        return result

    @cached_property
    def filled_tables(self) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
        """Whether each table has any costs, [T], and where those that have begin."""
        filled = np.diff(self.pool_offsets) > 0
        return filled, self.pool_offsets[:-1][filled]

    @cached_property
    def decimal_digits(self) -> int | None:
        """The least k for which every finite cost is a multiple of 10⁻ᵏ and totals are exact in it; None if real.

        The constant may be anything: totals are C + N·10⁻ᵏ.
        """
        return 0 if self.integral_tables else least_digits(self.pool, self.table_magnitude)

    @property
    def rounding_error(self) -> float:
        """The most by which the float of a total can differ from the total: of F + 1 sums, and of decimals as floats.

        With u = 2⁻⁵³ and M the sum of each factor's largest cost by size, adding up costs in any order is off by at
        most F·u·M; the constant is added last. 0 for integers.
        """
        if self.integral:
            return 0.0
        tables = self.table_magnitude
        return UNIT_ROUNDOFF * ((len(self.factor_table) + 4) * tables + 2 * (tables + abs(self.constant)))

    def rounding(self, cost: float) -> float:
        """By how much totals near `cost` may differ and still count as equal.

        Integers and decimals differ by at least a unit, so a part of it; real costs by what rounding can have done to
        both of them. "Optimal" of real costs means so: up to this number.
        """
        if self.integral:
            return 1e-6
        digits = self.decimal_digits
        return max(2 * self.rounding_error, 0.0 if digits is None else 0.25 * 10.0**-digits)

    @cached_property
    def _threshold(self) -> float | None:
        """Half a unit before the first total that the limit excludes; None where floats can be compared as they are.

        Floats of totals are off by less than an eighth of a unit, so those on the better side of the threshold are
        better than the limit, and the others are not.
        """
        digits = self.decimal_digits
        if self.limit is None or self.integral or digits is None or self.rounding_error > 0.125 * 10.0**-digits:
            return None
        sign = -1 if self.maximize else 1
        constant, limit = sign * decimal(self.constant), sign * decimal(self.limit)
        excluded = first_excluded(limit - constant, digits) - Fraction(1, 2)
        return sign * float(constant + excluded / Fraction(10) ** digits)

    def within_limit(self, cost: float, assignment: ArrayLike | None = None) -> bool:
        """Whether a total is strictly better than `limit`: exactly for integers and decimals.

        Real costs as their sum says; where it is too near to tell, their exact sum, given the assignment.
        """
        if self.limit is None:
            return True
        sign = -1.0 if self.maximize else 1.0
        middle = self._threshold
        if middle is not None:
            return sign * cost < sign * middle
        if assignment is not None and abs(cost - self.limit) <= self.rounding_error:
            return sign * math.fsum([*self.factor_costs(assignment).tolist(), self.constant, -self.limit]) < 0
        return sign * cost < sign * self.limit

    def excludes(self, bound: float) -> bool:
        """Whether no total from this bound on is better than `limit`, rounding allowed for: nothing is feasible."""
        if self.limit is None:
            return False
        sign = -1.0 if self.maximize else 1.0
        middle = self._threshold
        return sign * bound >= sign * (self.limit if middle is None else middle) + (
            2 * self.rounding_error if middle is None else 0.0
        )
