"""A problem's costs as non-negative integers, for solvers that compute with those only."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, ragged_positions
from dabp.problem.guard import Guard
from dabp.problem.validation import EXACT

EXACT_DIGITS = 6
"""Costs with up to so many decimals become integers exactly."""

PIECE = 1 << 20
"""Cells gone through between two questions to the guard."""


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

    def __init__(self, problem: Problem, precision: float, guard: Guard | None = None):
        used, tables = np.unique(problem.factor_table, return_inverse=True)
        cells = _Cells(problem, used, Guard() if guard is None else guard)
        self.infeasible = bool(np.isinf(cells.lowest).any())
        if self.infeasible:
            return
        total = float(cells.range[tables].sum())
        self.precision = precision * min(1.0, total) if total else precision
        self.scale = _scale(cells, total, problem.num_factors, self.precision)
        pool, added = cells.rounded(self.scale)
        self.offset = problem.constant + math.fsum(cells.lowest[tables])
        self.largest = float(np.rint(cells.range * self.scale)[tables].sum())
        # Sums of non-integers in float64 are themselves off in the last places.
        slack = 0.0 if problem.integral else 1e-15 * (total + abs(self.offset))
        self.margin = math.fsum(np.maximum(added, 0.0)[tables]) + slack
        self.problem = problem.replace(pool=pool, pool_offsets=cells.offsets, factor_table=tables, constant=0.0)

    def lower_bound(self, integer_bound: float) -> float:
        """A bound on the true optimum from one on the integer problem."""
        return integer_bound / self.scale + self.offset - self.margin


class Stopped(Exception):  # noqa: N818 - not an error: the guard said so
    """There is no time or memory left to scale the costs."""


class _Cells:
    """The tables that a problem uses, gone through in pieces so that a guard is heard and copies stay small."""

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
        """Some tables, where they start in the piece, and their costs."""
        first, count = 0, len(self._used)
        while first < count:
            if reason := self._guard.reason:
                raise Stopped(reason)
            full = np.searchsorted(self.offsets, self.offsets[first] + PIECE, side="right") - 1
            last = max(first + 1, min(count, int(full)))
            positions = ragged_positions(self._problem.pool_offsets, self._used[first:last])
            yield slice(first, last), self.offsets[first:last] - self.offsets[first], self._problem.pool[positions]
            first = last

    def above(self) -> Iterator[tuple[slice, Indices, NDArray[np.float64]]]:
        """The same with costs above the least of their table, inf where forbidden."""
        for tables, starts, costs in self._pieces():
            lengths = np.diff(np.append(starts, len(costs)))
            yield tables, starts, costs - np.repeat(self.lowest[tables], lengths)

    def rounded(self, scale: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """All cells as integers (inf where forbidden), and by how much rounding raises a cell of each table at most."""
        pool, added = np.empty(int(self.offsets[-1])), np.empty(len(self._used))
        for tables, starts, above in self.above():
            rounded = np.rint(above * scale)
            pool[self.offsets[tables.start] : self.offsets[tables.stop]] = rounded  # inf where forbidden
            forbidden = np.isinf(above)
            above[forbidden] = rounded[forbidden] = 0.0
            raised = rounded / scale - above
            added[tables] = np.maximum.reduceat(raised, starts)
        return pool, added


def _scale(cells: _Cells, total: float, num_factors: int, precision: float) -> float:
    """The least power of ten that makes costs integers, or makes the rounding of a total small enough."""
    most = math.floor(math.log10(EXACT / 4 / total)) if total else 0
    for digits in range(min(EXACT_DIGITS, most) + 1):
        floor = min(1.0, float((cells.range * 10.0**digits).max(initial=0.0)))  # tiny costs are not all zero
        noise = precision * 10.0**digits / max(num_factors, 1)
        if all(_integers(above * 10.0**digits, floor, noise) for _, _, above in cells.above()):
            return 10.0**digits
    return float(10.0 ** min(math.ceil(math.log10(max(num_factors, 1) / precision)), most))


def _integers(scaled: NDArray[np.float64], floor: float, noise: float) -> bool:
    """Whether all finite costs are integers but for what rounding does."""
    scaled = scaled[np.isfinite(scaled)]
    allowed = np.minimum(1e-9 * np.maximum(scaled, floor), np.maximum(noise, 1e-15 * scaled))
    return bool(np.all(np.abs(scaled - np.rint(scaled)) <= allowed))
