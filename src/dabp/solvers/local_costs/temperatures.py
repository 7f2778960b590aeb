"""Temperatures for annealing, found from what changes of value cost around an assignment."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

HOT, FEW = 0.25, 100
"""The share of updates uphill where a cycle begins on a problem with fewer variables than that."""

COLD, FROZEN = 0.01, 0.001
"""The shares of updates in a local minimum that go uphill where a cycle ends: for costs of all sizes, and in steps."""


class Differences(NamedTuple):
    """What the values of some variables cost more than the present one; a variable's are adjacent."""

    owner: NDArray[np.int64]
    """Which variable, counted from 0."""
    rise: NDArray[np.float64]
    """In units; 0 for the present value, negative downhill."""


def joined(one: Differences, other: Differences) -> Differences:
    """Both, of different variables."""
    owner = np.concatenate([one.owner, one.owner.max(initial=-1) + 1 + other.owner])
    return Differences(owner, np.concatenate([one.rise, other.rise]))


class Range(NamedTuple):
    """Where annealing begins and ends, in units of the differences."""

    hot: float
    cold: float
    stepped: float
    """1 where differences of cost come in steps (all integers of size 1, say), 0 where they come in all sizes."""


def temperature_range(differences: Differences, hot_share: float) -> Range:
    """Temperatures from `hot_share` of the updates uphill down to where the differences say that nothing more happens.

    With differences of all sizes down to 0 the share p of updates that go uphill falls about as T does, and nothing is
    special about any temperature: the range ends at p = 1 %, since below it only the smallest differences are decided.
    With a smallest step δ it falls as exp(−δ / T), much faster: a little more cooling then freezes everything, and
    ending before leaves defects that no descent repairs. Which of the two it is shows in d ln p / d ln T from p = 1 %
    to 0.1 %, about 1 or δ / T ≈ 5: the range ends at 0.1 % if it is 4 or more, in between if it lies between 2 and 4.

    Fewer variables than `FEW` say little about the rest of the landscape, and take no time: these begin hot.
    """
    if len(np.unique(differences.owner)) < FEW:
        hot_share = max(hot_share, HOT)
    hot, cold, frozen = (uphill_temperature(differences, share) for share in (hot_share, COLD, FROZEN))
    slope = math.log(COLD / FROZEN) / max(math.log(cold / frozen), 1e-9)
    stepped = min(max((slope - 2.0) / 2.0, 0.0), 1.0)
    return Range(hot, cold ** (1.0 - stepped) * frozen**stepped, stepped)


def uphill_temperature(differences: Differences, fraction: float) -> float:
    """The temperature at which this fraction of the variables, resampled from where they are, would go uphill.

    Found by bisection, since P(uphill) = Σ_{a: L[a] > L[x]} exp(−L[a]/T) / Σ_a exp(−L[a]/T) rises with T. 1 if nothing
    goes uphill.
    """
    owner, rise = differences
    if len(owner) == 0:
        return 1.0
    uphill = rise > 0
    rise = rise - np.minimum.reduceat(rise, np.flatnonzero(np.diff(owner, prepend=-1)))[owner]
    low, high = math.log(rise[rise > 0].min() / 50), math.log(rise.max() * 50)
    for _ in range(30):
        middle = (low + high) / 2
        share = np.exp(-rise / math.exp(middle))
        rate = (np.bincount(owner, share * uphill) / np.bincount(owner, share)).mean()
        low, high = (middle, high) if rate < fraction else (low, middle)
    return math.exp(high)
