"""A problem's costs as non-negative integers, for solvers that compute with those only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.validation import EXACT

EXACT_DIGITS = 6
"""Costs with up to so many decimals become integers exactly."""


class ScaledCosts:
    """A problem with integer costs I such that cost(x) ≈ I(x) / scale + offset, every table with minimum 0.

    Attributes
    ----------
    problem
        The integer problem (constant 0, inf = forbidden); absent if `infeasible`.
    scale, offset
        A power of ten, and the sum of the original tables' minima and the constant.
    precision
        The largest error that was allowed for a total: as given, or of the range of totals if that is below 1.
    margin
        The most by which I(x) / scale + offset can lie above the true cost: a bound is lowered by it.
    largest
        The sum of the tables' largest finite costs: no feasible assignment costs more.
    infeasible
        Whether some factor forbids everything.
    """

    def __init__(self, problem: Problem, precision: float):
        used, tables = np.unique(problem.factor_table, return_inverse=True)
        lengths = np.diff(problem.pool_offsets)
        in_use = np.zeros(len(lengths), dtype=bool)
        in_use[used] = True
        costs, lengths = problem.pool[np.repeat(in_use, lengths)], lengths[used]
        offsets = offsets_of(lengths)

        def largest_each(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.maximum.reduceat(values, offsets[:-1]) if len(used) else np.zeros(0)

        lowest = -largest_each(-costs)
        self.infeasible = bool(np.isinf(lowest).any())
        if self.infeasible:
            return
        finite = np.isfinite(costs)
        above = np.where(finite, costs, 0.0) - np.repeat(lowest, lengths)
        above[~finite] = 0.0
        total = float(largest_each(above)[tables].sum())
        self.precision = precision * min(1.0, total) if total else precision
        self.scale = _scale(above, total, problem.num_factors, self.precision)
        rounded = np.rint(above * self.scale)
        added = largest_each(rounded / self.scale - above)
        self.offset = problem.constant + math.fsum(lowest[tables])
        self.largest = float(largest_each(rounded)[tables].sum())
        # Sums of non-integers in float64 are themselves off in the last places.
        slack = 0.0 if problem.integral else 1e-15 * (total + abs(self.offset))
        self.margin = math.fsum(np.maximum(added, 0.0)[tables]) + slack
        self.problem = problem.replace(
            pool=np.where(finite, rounded, np.inf), pool_offsets=offsets, factor_table=tables, constant=0.0
        )

    def lower_bound(self, integer_bound: float) -> float:
        """A bound on the true optimum from one on the integer problem."""
        return integer_bound / self.scale + self.offset - self.margin


def _scale(costs: NDArray[np.float64], total: float, num_factors: int, precision: float) -> float:
    """The least power of ten that makes costs integers, or makes the rounding of a total small enough."""
    most = math.floor(math.log10(EXACT / 4 / total)) if total else 0
    for digits in range(min(EXACT_DIGITS, most) + 1):
        scaled = costs * 10.0**digits
        floor = min(1.0, float(scaled.max(initial=0.0)))  # costs that are all tiny are not all zero
        noise = np.maximum(precision * 10.0**digits / max(num_factors, 1), 1e-15 * scaled)
        if np.all(np.abs(scaled - np.rint(scaled)) <= np.minimum(1e-9 * np.maximum(scaled, floor), noise)):
            return 10.0**digits
    return float(10.0 ** min(math.ceil(math.log10(max(num_factors, 1) / precision)), most))
