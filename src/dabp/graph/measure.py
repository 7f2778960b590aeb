"""The scale of a problem's costs: the divisor of those of its factor graph, and constants that are taken off before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.problem.columns import table_ranges

MOST_SCALED = 1e20
"""Largest sum of all costs, in scaled units: the padding of domains, 1e30, must be larger than any belief."""


class Measure(NamedTuple):
    """The scale of the costs of a problem."""

    scale: float
    """The divisor of costs."""
    ranges: float
    """The sum of the ranges of all factors."""
    shifts: NDArray[np.float64]
    """[T]: the constant that is taken off each table: its least cost, where that is much larger than its range."""
    lowest: NDArray[np.float64]
    """[T]: the least finite cost of each table afterwards."""


def measured(problem: Problem, cost_scale: float | None, *, checked: bool) -> Measure:
    """The scale, by default half the median of the positive ranges, and enough for float64 to represent totals."""
    lowest, ranges = table_ranges(problem)
    of_factors = ranges[problem.factor_table]
    every = float(of_factors.sum())
    usual = _usual_scale(of_factors) if cost_scale is None else float(cost_scale)
    # Single precision would lose the costs of a table beside a large constant; messages may differ by a constant.
    shifts = np.where(np.abs(lowest) > 64.0 * np.maximum(ranges, usual), lowest, 0.0)
    lowest = lowest - shifts
    total = every + float(np.abs(lowest)[problem.factor_table].sum())
    if checked and cost_scale is not None and total / MOST_SCALED > cost_scale:
        raise ParameterError(f"cost_scale {cost_scale:g} is too small for these costs: sums would overflow")
    return Measure(max(usual, total / 1e16) if cost_scale is None else usual, every, shifts, lowest)


def _usual_scale(ranges: NDArray[np.float64]) -> float:
    """Half the median of the positive ranges, 1 if there are none; reorders `ranges`."""
    positive = ranges if (ranges > 0).all() else ranges[ranges > 0]
    count = len(positive)
    middle = [(count - 1) // 2, count // 2]
    if count:
        positive.partition(middle)
    return max(float(positive[middle].sum()) / 4, float(np.finfo(np.float64).tiny)) if count else 1.0
