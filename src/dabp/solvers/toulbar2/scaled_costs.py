"""A problem's costs as non-negative integers, for solvers that compute with those only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.exactness import UNIT_ROUNDOFF
from dabp.problem.validation import EXACT


class ScaledCosts:
    """A problem with integer costs I such that cost(x) ≈ I(x) / scale + offset, every table with minimum 0.

    Attributes
    ----------
    problem
        The integer problem (constant 0, inf = forbidden); absent if `infeasible`.
    scale, offset
        A power of ten if costs are decimal, else the largest power of two that leaves totals exact (a power of ten
        if less was asked for), and the sum of the original tables' minima and the constant.
    margin
        The most by which I(x) / scale + offset can lie above the true cost: a bound is lowered by it.
    largest
        The sum of the tables' largest finite costs: no feasible assignment costs more.
    infeasible
        Whether some factor forbids everything.
    """

    def __init__(self, problem: Problem, precision: float | None = None):
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
        self.scale = _scale(problem, total, precision)
        rounded = np.rint(above * self.scale)
        added = largest_each(rounded / self.scale - above)
        self.offset = problem.constant + math.fsum(lowest[tables])
        self.largest = float(largest_each(rounded)[tables].sum())
        # Differences and sums of non-integers in float64 are themselves off in the last places.
        slack = 4 * UNIT_ROUNDOFF * (problem.table_magnitude + total + abs(self.offset))
        self.margin = 0.0 if problem.integral else math.fsum(np.maximum(added, 0.0)[tables]) + slack
        self.problem = problem.replace(
            pool=np.where(finite, rounded, np.inf), pool_offsets=offsets, factor_table=tables, constant=0.0
        )

    def lower_bound(self, integer_bound: float) -> float:
        """A bound on the true optimum from one on the integer problem."""
        return integer_bound / self.scale + self.offset - self.margin


def _scale(problem: Problem, total: float, precision: float | None) -> float:
    """What makes decimal costs integers, or totals as fine as float64 has room for, or as fine as asked for."""
    if not total or problem.integral:
        return 1.0
    if problem.decimal_digits is not None and total * 10.0**problem.decimal_digits < EXACT / 4:
        return float(10.0**problem.decimal_digits)
    finest = 2.0 ** min(math.floor(math.log2(EXACT / 2) - math.log2(total)), 1000)
    if precision is None:
        return finest
    wanted = math.log10(max(problem.num_factors, 1)) - math.log10(precision * min(1.0, total))
    return float(min(10.0 ** min(math.ceil(wanted), 300), finest))
