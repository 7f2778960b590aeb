"""Means with confidence, and paired comparison: Student's t interval and Wilcoxon's signed-rank test."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from dabp.packages import require

EXACT_PAIRS = 50
"""Number of differing pairs up to which Wilcoxon's test is computed exactly."""


def mean_interval(values: Sequence[float] | NDArray[np.float64], level: float = 0.95) -> tuple[float, float]:
    """Mean and half width of its confidence interval, t · s / √n; NaN where there are too few values."""
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        return math.nan, math.nan
    if array.size == 1:
        return float(array[0]), math.nan
    half = _t_quantile(0.5 + level / 2, array.size - 1) * float(array.std(ddof=1)) / math.sqrt(array.size)
    return float(array.mean()), half


@dataclass(frozen=True)
class Wilcoxon:
    """Wilcoxon's signed-rank test of paired values.

    `statistic` is the smaller of the two rank sums, `pairs` how many pairs differ, `exact` whether the two-sided
    `p_value` is exact or a normal approximation with corrections for ties and continuity.
    """

    statistic: float
    p_value: float
    pairs: int
    exact: bool


def wilcoxon(differences: Sequence[float] | NDArray[np.float64], tolerance: float = 0.0) -> Wilcoxon:
    """Whether paired differences are as often, and as much, below zero as above; zeros are dropped.

    What lies within `tolerance` counts as equal: quotients of equal integers differ in the last bit, ranks must not.
    """
    array = np.asarray(differences, dtype=np.float64)
    array = array[np.abs(array) > tolerance]
    if array.size == 0:
        return Wilcoxon(0.0, 1.0, 0, True)
    signed = np.sign(array) * _groups(np.abs(array), tolerance)
    exact = array.size <= EXACT_PAIRS
    found = _stats().wilcoxon(signed, correction=not exact, method="exact" if exact else "asymptotic")
    statistic, p_value = float(found.statistic), float(found.pvalue)
    if exact and len(np.unique(np.abs(signed))) < array.size:
        p_value = _exact_with_ties(_stats().rankdata(np.abs(signed)), statistic)
    return Wilcoxon(statistic, p_value, array.size, exact)


def _groups(values: NDArray[np.float64], tolerance: float) -> NDArray[np.int64]:
    """Whole numbers from 1 in the order of the values, the same for those that follow each other within tolerance."""
    order = np.argsort(values)
    group = np.empty(len(values), dtype=np.int64)
    group[order] = 1 + np.cumsum(np.diff(values[order], prepend=values[order[0]]) > tolerance)
    return group


def _exact_with_ties(ranks: NDArray[np.float64], statistic: float) -> float:
    """Two-sided p: the share of the 2ⁿ sign choices whose positive rank sum is as extreme, counted by sums.

    SciPy's exact test knows the ranks 1 … n only, and solvers that find the same optimum tie all the time.
    """
    doubled = np.rint(2 * ranks).astype(np.int64)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    below = float(ways[: round(2 * statistic) + 1].sum())
    return min(1.0, 2 * below / 2.0 ** len(ranks))


@functools.cache
def _t_quantile(probability: float, freedom: int) -> float:
    """The value a Student t variable stays below with a probability; figures ask for the same ones by the thousand."""
    return float(_stats().t.ppf(probability, freedom))


def _stats() -> ModuleType:
    require("scipy", "comparing the results of experiments")
    from scipy import stats

    module: ModuleType = stats
    return module
