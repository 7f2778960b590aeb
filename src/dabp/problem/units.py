"""A problem in units: decimal costs as integers, and the constant apart, so that what a solver proves is exact."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Assignment, Problem
from dabp.problem.exactness import decimal, first_excluded, in_units


class InUnits:
    """A minimisation whose costs are integers of 10⁻ᵏ if they are decimal, and whose constant is 0: a `Reduction`.

    A large constant takes the last places from every sum that it enters, and most decimals are no floats: without
    both, sums of integers are exact. Real costs stay as they are. A problem of integers is left alone.

    Attributes
    ----------
    problem
        The problem in units.
    scale
        Units to a cost of 1: 10ᵏ, or 1.
    """

    def __init__(self, problem: Problem):
        digits = problem.facts.decimal_digits
        self._digits = digits or 0
        self.scale = 10.0**self._digits
        self._constant = Fraction(0) if problem.facts.integral else _exact(problem.constant, digits)
        if self._constant == 0 and not self._digits:
            self.problem = problem
            return
        limit = problem.limit
        if limit is not None:
            apart = _exact(limit, digits) - self._constant
            limit = _above(apart) if digits is None else float(first_excluded(apart, digits))
        pool = in_units(problem.pool, self._digits) if self._digits else problem.pool
        hard = problem.auxiliaries.hard_statements
        self.problem = problem.replace(pool=pool, constant=0.0, limit=limit, statements=hard)

    def lift(self, assignment: Assignment) -> Assignment:
        """The assignment itself: variables and values are those of the original."""
        return assignment

    def project(self, assignment: Assignment) -> Assignment:
        """The assignment itself: variables and values are those of the original."""
        return assignment

    def cost(self, units: float) -> float:
        """A total or bound in units as a cost, rounded once."""
        if not math.isfinite(units) or (self._constant == 0 and not self._digits):
            return units
        return float(self._constant + Fraction(units) / Fraction(10) ** self._digits)

    def costs(self, units: NDArray[np.float64]) -> NDArray[np.float64]:
        """Many totals as costs, for the trace: rounded twice."""
        return units / self.scale + float(self._constant) if self._constant or self._digits else units


def _exact(value: float, digits: int | None) -> Fraction:
    """The exact value of a float: for decimal costs the shortest decimal that reads as it."""
    return Fraction(value) if digits is None else decimal(value)


def _above(value: Fraction) -> float:
    """The least float that is not below a number."""
    nearest = float(value)
    return nearest if Fraction(nearest) >= value else math.nextafter(nearest, math.inf)
