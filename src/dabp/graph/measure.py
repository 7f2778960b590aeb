"""How large the costs of a problem are: what those of its factor graph are divided by, and what is taken off before."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.problem import Problem
from dabp.problem.columns import table_ranges

DWARFED = 64.0
"""Where a table's least cost is more than so many times its range and the usual one, it is taken off the table: single
precision would lose these beside it. Messages differ by a constant then; costs are the problem's own anyway."""

MOST_RANGE, MOST_SCALED = 1e16, 1e20
"""Up to what sum of all costs, in scaled units, the default scale goes (beyond, float64 could not tell totals apart
either) and, unless a type is asked for, one that is given may go: 1e30, which pads domains in the kernels of BP, must
stay larger than any belief."""


class Measure(NamedTuple):
    """How large the costs of a problem are."""

    scale: float
    """What they are divided by."""
    ranges: float
    """The sum of the ranges of all factors."""
    shifts: NDArray[np.float64]
    """[T]: what is taken off a table before (see `DWARFED`)."""
    lowest: NDArray[np.float64]
    """[T]: its least finite cost afterwards."""


def measured(problem: Problem, cost_scale: float | None, *, checked: bool) -> Measure:
    """A scale, by default half the median of the positive ranges, or more where all costs would add up to too much."""
    lowest, ranges = table_ranges(problem)
    of_factors = ranges[problem.factor_table]
    every = float(of_factors.sum())
    usual = _usual_scale(of_factors) if cost_scale is None else float(cost_scale)
    del of_factors  # large, and used up
    shifts = np.where(np.abs(lowest) > DWARFED * np.maximum(ranges, usual), lowest, 0.0)
    lowest = lowest - shifts
    total = every + float(np.abs(lowest)[problem.factor_table].sum())
    if checked and cost_scale is not None and total / MOST_SCALED > cost_scale:
        raise ParameterError(f"cost_scale {cost_scale:g} is too small for these costs: sums would overflow")
    return Measure(max(usual, total / MOST_RANGE) if cost_scale is None else usual, every, shifts, lowest)


def _usual_scale(ranges: NDArray[np.float64]) -> float:
    """Half the median of the positive ranges, which are in another order afterwards; 1 if there are none."""
    positive = ranges if (ranges > 0).all() else ranges[ranges > 0]
    count = len(positive)
    middle = [(count - 1) // 2, count // 2]
    if count:
        positive.partition(middle)
    return max(float(positive[middle].sum()) / 4, float(np.finfo(np.float64).tiny)) if count else 1.0
