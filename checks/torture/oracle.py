"""The exact answer by enumeration: every total as a whole number of the smallest unit, without rounding.

A float is a whole number times a power of two, so all costs of a problem are whole numbers of one unit 2⁻ᵏ; Python's
integers add them up exactly, whatever their magnitudes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from dabp.problem import Problem

ULP = Fraction(1, 2**53)


class Oracle:
    """All assignments of a problem (those that agree with `fix`) with their exact totals, as a minimisation."""

    def __init__(self, problem: Problem, fix: Mapping[str, Any]):
        self.problem, self.fix = problem, dict(fix)
        self.sign = -1 if problem.maximize else 1
        finite = problem.pool[np.isfinite(problem.pool)]
        numbers = [float(c).as_integer_ratio()[1].bit_length() - 1 for c in (*finite.tolist(), problem.constant)]
        self.shift = max(numbers)
        sizes = problem.domain_sizes.tolist()
        self.total = np.full(sizes, self._exact(problem.constant), dtype=object)
        self.allowed = np.ones(sizes, dtype=bool)
        self.slack = self._slack(finite)
        for factor in problem.factors:
            order = np.argsort(factor.scope)
            shape = [1] * len(sizes)
            for variable in factor.scope:
                shape[variable] = sizes[variable]
            table = factor.table.transpose(order).reshape(shape)
            self.allowed = self.allowed & np.isfinite(table)
            exact = np.vectorize(self._exact, otypes=[object])(np.where(np.isfinite(table), table, 0))
            self.total = np.asarray(self.total + exact, dtype=object)
        for name, value in self.fix.items():
            keep = np.zeros(sizes, dtype=bool)
            index: list[Any] = [slice(None)] * len(sizes)
            index[problem.names.variable_index(name)] = value
            keep[tuple(index)] = True
            self.allowed = self.allowed & keep
        self.total = np.broadcast_to(self.total, sizes)
        self.optimum = self._optimum()

    def _exact(self, cost: float) -> int:
        """A cost in units of 2⁻ᵏ, negated when maximising."""
        numerator, denominator = float(cost).as_integer_ratio()
        return self.sign * numerator * (2**self.shift // denominator)

    def fraction(self, units: int) -> Fraction:
        """A total in the problem's own units (still as a minimisation)."""
        return Fraction(units, 2**self.shift)

    def _slack(self, finite: np.ndarray[Any, Any]) -> Fraction:
        """What adding up floats can be off by: units in the last place of all that is added, none for integers."""
        problem = self.problem
        if problem.facts.integral and (problem.limit is None or problem.limit == round(problem.limit)):
            return Fraction(0)
        sizes = np.abs(np.where(np.isfinite(problem.pool), problem.pool, 0.0))
        largest = problem.facts.per_table(np.maximum, sizes)[problem.factor_table]
        magnitude = sum(map(Fraction, largest.tolist()), Fraction(abs(problem.constant)))
        return 2 * (problem.num_factors + 4) * ULP * magnitude

    def _optimum(self) -> Fraction | None:
        """The least exact total over all that is allowed, whatever the limit; None if nothing is."""
        values = self.total[self.allowed]
        return self.fraction(min(values.tolist())) if values.size else None

    @property
    def float_optimum(self) -> float | None:
        """The optimum in the problem's direction, rounded."""
        return None if self.optimum is None else self.sign * float(self.optimum)

    @property
    def limit(self) -> Fraction | None:
        """The limit as one of the minimisation."""
        return None if self.problem.limit is None else self.sign * Fraction(self.problem.limit)

    @property
    def surely_feasible(self) -> bool:
        """Whether some assignment is better than the limit by more than rounding could tell."""
        return self.optimum is not None and (self.limit is None or self.optimum < self.limit - self.slack)

    @property
    def surely_infeasible(self) -> bool:
        """Whether none is better than the limit, even with rounding on its side."""
        return self.optimum is None or (self.limit is not None and self.optimum >= self.limit + self.slack)

    def exact_cost(self, assignment: Any) -> Fraction | None:
        """The exact total of an assignment; None if it is forbidden or not as fixed."""
        place = tuple(int(v) for v in assignment)
        return self.fraction(self.total[place]) if self.allowed[place] else None


def as_fraction(value: float) -> Fraction | None:
    """A float exactly; None if it is not finite."""
    return Fraction(value) if math.isfinite(value) else None
