"""A problem's costs as non-negative integers, for solvers that compute with those only."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import handed_over
from dabp.problem.exactness import UNIT_ROUNDOFF
from dabp.problem.guard import Guard
from dabp.problem.validation import EXACT
from dabp.solvers.stopped import ask


class ScaledCosts:
    """A problem with integer costs I such that cost(x) ≈ I(x) / scale + offset, every table with minimum 0.

    Attributes
    ----------
    problem
        The integer problem (constant 0, inf = forbidden); absent if `infeasible`.
    scale, offset
        A power of ten if costs are decimal, else the largest power of two with exact totals (a power of ten if that
        is precise enough), and the sum of the original tables' minima and the constant.
    margin
        The most by which I(x) / scale + offset can exceed the true cost: bounds are lowered by it.
    largest
        The sum of the tables' largest finite costs.
    infeasible
        Whether some factor forbids everything.
    """

    def __init__(self, problem: Problem, precision: float | None = None, guard: Guard | None = None):
        tables, facts = problem.factor_table, problem.facts
        self.infeasible = bool(np.isinf(facts.extremes[0][tables]).any())
        if self.infeasible:
            return
        ask(guard or Guard())
        lowest, highest = facts.finite_extremes
        spans = highest - lowest
        total = float(spans[tables].sum())
        self.scale = _scale(problem, total, precision)
        pool, added = problem.pool, np.zeros(len(lowest))
        if not facts.integral or lowest.any():
            pool, added = _rounded(problem, lowest, self.scale)
        self.offset = problem.constant + math.fsum(lowest[tables])
        self.largest = float(np.rint(spans * self.scale)[tables].sum())
        # Rounding of differences and sums of non-integers in float64.
        slack = 4 * UNIT_ROUNDOFF * (facts.table_magnitude + total + abs(self.offset))
        self.margin = 0.0 if facts.integral else math.fsum(np.maximum(added, 0.0)[tables]) + slack
        self.problem = problem.replace(pool=pool, constant=0.0)

    def lower_bound(self, integer_bound: float) -> float:
        """A bound on the true optimum from one on the integer problem."""
        return integer_bound / self.scale + self.offset - self.margin


def _rounded(
    problem: Problem, lowest: NDArray[np.float64], scale: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All cells as integers (inf where forbidden), and the most that rounding raises a cell of each table."""
    above = problem.pool - np.repeat(lowest, np.diff(problem.pool_offsets))
    rounded = handed_over(np.rint(above * scale))
    raised = np.zeros(len(above))
    np.subtract(rounded / scale, above, out=raised, where=np.isfinite(above))
    return rounded, problem.facts.per_table(np.maximum, raised)


def _scale(problem: Problem, total: float, precision: float | None) -> float:
    """A scale that makes decimal costs integers, or totals as precise as float64 or `precision` allows."""
    if not total or problem.facts.integral:
        return 1.0
    if problem.facts.decimal_digits is not None and total * 10.0**problem.facts.decimal_digits < EXACT / 4:
        return float(10.0**problem.facts.decimal_digits)
    finest = 2.0 ** min(math.floor(math.log2(EXACT / 2) - math.log2(total)), 1000)
    if precision is None:
        return finest
    wanted = math.log10(max(problem.num_factors, 1)) - math.log10(precision * min(1.0, total))
    return float(min(10.0 ** min(math.ceil(wanted), 300), finest))
