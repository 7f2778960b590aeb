"""A problem's costs as non-negative integers, for solvers that compute with those only."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.exactness import UNIT_ROUNDOFF
from dabp.problem.guard import Guard
from dabp.problem.validation import EXACT
from dabp.solvers.stopped import ask

PIECE = 1 << 20
"""Cells processed between two questions to the guard."""


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
        used, tables = np.unique(problem.factor_table, return_inverse=True)
        cells = _Cells(problem, used, Guard() if guard is None else guard)
        self.infeasible = bool(np.isinf(cells.lowest).any())
        if self.infeasible:
            return
        total = float(cells.range[tables].sum())
        self.scale = _scale(problem, total, precision)
        pool, added = cells.rounded(self.scale)
        self.offset = problem.constant + math.fsum(cells.lowest[tables])
        self.largest = float(np.rint(cells.range * self.scale)[tables].sum())
        # Rounding of differences and sums of non-integers in float64.
        slack = 4 * UNIT_ROUNDOFF * (problem.facts.table_magnitude + total + abs(self.offset))
        self.margin = 0.0 if problem.facts.integral else math.fsum(np.maximum(added, 0.0)[tables]) + slack
        self.problem = problem.replace(pool=pool, pool_offsets=cells.offsets, factor_table=tables, constant=0.0)

    def lower_bound(self, integer_bound: float) -> float:
        """A bound on the true optimum from one on the integer problem."""
        return integer_bound / self.scale + self.offset - self.margin


class _Cells:
    """The tables that a problem uses, processed in pieces; the guard is checked between them."""

    def __init__(self, problem: Problem, used: Indices, guard: Guard):
        self._problem, self._used, self._guard = problem, used, guard
        lengths = np.diff(problem.pool_offsets)[used]
        self.offsets = offsets_of(lengths)
        self.lowest, self.range = np.empty(len(used)), np.empty(len(used))
        for tables, starts, costs in self._pieces():
            finite = np.isfinite(costs)
            self.lowest[tables] = np.minimum.reduceat(costs, starts)
            self.range[tables] = np.maximum.reduceat(np.where(finite, costs, -np.inf), starts) - self.lowest[tables]

    def _pieces(self) -> Iterator[tuple[slice, Indices, NDArray[np.float64]]]:
        """Some tables, their first cells in the piece, and their costs."""
        first, count = 0, len(self._used)
        while first < count:
            ask(self._guard)
            full = np.searchsorted(self.offsets, self.offsets[first] + PIECE, side="right") - 1
            last = max(first + 1, min(count, int(full)))
            positions = ragged_positions(self._problem.pool_offsets, self._used[first:last])
            yield slice(first, last), self.offsets[first:last] - self.offsets[first], self._problem.pool[positions]
            first = last

    def rounded(self, scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """All cells as integers (inf where forbidden), and the most that rounding raises a cell of each table."""
        whole = self.offsets[-1] == len(self._problem.pool)
        if whole and self._problem.facts.integral and scale == 1.0 and not self.lowest.any():
            return self._problem.pool, np.zeros(len(self._used))
        pool, added = np.empty(int(self.offsets[-1])), np.empty(len(self._used))
        for tables, starts, costs in self._pieces():
            above = costs - np.repeat(self.lowest[tables], np.diff(np.append(starts, len(costs))))
            rounded = np.rint(above * scale)
            pool[self.offsets[tables.start] : self.offsets[tables.stop]] = rounded  # inf where forbidden
            forbidden = np.isinf(above)
            above[forbidden] = rounded[forbidden] = 0.0
            raised = rounded / scale - above
            added[tables] = np.maximum.reduceat(raised, starts)
        return pool, added


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
