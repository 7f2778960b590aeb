"""Means with confidence, and paired comparison: Student's t interval and Wilcoxon's signed-rank test."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

EXACT_PAIRS = 50
"""Up to so many differing pairs Wilcoxon's test is computed exactly."""


def mean_interval(values: Sequence[float] | NDArray[np.float64], level: float = 0.95) -> tuple[float, float]:
    """Mean and half width of its confidence interval, t · s / √n; NaN where there are too few values."""
    array = np.asarray(values, dtype=np.float64)
    if array.size == 0:
        return math.nan, math.nan
    if array.size == 1:
        return float(array[0]), math.nan
    half = t_quantile(0.5 + level / 2, array.size - 1) * float(array.std(ddof=1)) / math.sqrt(array.size)
    return float(array.mean()), half


def t_quantile(probability: float, freedom: int) -> float:
    """The value a Student t variable stays below with a probability of at least one half."""
    low, high = 0.0, 1.0
    while t_distribution(high, freedom) < probability:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_distribution(middle, freedom) < probability else (low, middle)
    return (low + high) / 2


def t_distribution(value: float, freedom: int) -> float:
    """P(T ≤ value) for a whole number of degrees of freedom, by the finite series in θ = atan(value / √ν).

    Odd ν: P(|T| ≤ t) = 2/π · (θ + sin θ · (cos θ + 2/3 cos³ θ + …)); even ν: sin θ · (1 + 1/2 cos² θ + …).
    """
    theta = math.atan(value / math.sqrt(freedom))
    cosine, total = math.cos(theta), 0.0
    if freedom % 2:
        term = cosine
        for k in range(1, freedom - 1, 2):
            total += term
            term *= cosine**2 * (k + 1) / (k + 2)
        inside = 2 / math.pi * (theta + math.sin(theta) * total)
    else:
        term = 1.0
        for k in range(0, freedom, 2):
            total += term
            term *= cosine**2 * (k + 1) / (k + 2)
        inside = math.sin(theta) * total
    return 0.5 + inside / 2


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
    count = array.size
    if count == 0:
        return Wilcoxon(0.0, 1.0, 0, True)
    ranks, ties = _ranks(np.abs(array), tolerance)
    positive = float(ranks[array > 0].sum())
    total = count * (count + 1) / 2
    statistic = min(positive, total - positive)
    if count <= EXACT_PAIRS:
        return Wilcoxon(statistic, _exact_p(ranks, statistic), count, True)
    variance = count * (count + 1) * (2 * count + 1) / 24 - float((ties**3 - ties).sum()) / 48
    deviation = max(abs(positive - total / 2) - 0.5, 0.0) / math.sqrt(variance)
    return Wilcoxon(statistic, math.erfc(deviation / math.sqrt(2)), count, False)


def _ranks(values: NDArray[np.float64], tolerance: float) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Ranks from 1, equal values sharing their mean rank, and the sizes of the groups of equals."""
    order = np.argsort(values)
    group = np.empty(len(values), dtype=np.int64)
    group[order] = np.cumsum(np.diff(values[order], prepend=values[order[0]]) > tolerance)
    counts = np.bincount(group)
    last = np.cumsum(counts)
    return (last - (counts - 1) / 2)[group], counts


def _exact_p(ranks: NDArray[np.float64], statistic: float) -> float:
    """Two-sided p: the share of the 2ⁿ sign choices whose positive rank sum is as extreme, counted by sums."""
    doubled = np.rint(2 * ranks).astype(np.int64)
    ways = np.zeros(int(doubled.sum()) + 1)
    ways[0] = 1.0
    for rank in doubled.tolist():
        ways[rank:] = ways[rank:] + ways[: len(ways) - rank]
    below = float(ways[: round(2 * statistic) + 1].sum())
    return min(1.0, 2 * below / 2.0 ** len(ranks))
