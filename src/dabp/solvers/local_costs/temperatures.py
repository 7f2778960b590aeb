"""Temperatures for annealing, found from what changes of value cost around an assignment."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

COLD = 0.01
"""The share of updates in a local minimum that go uphill where a cycle ends, for costs of all sizes."""

FROZEN = 0.001
"""The same where differences of cost come in steps."""

TAIL = 0.1
"""The part of a cycle that leads from its slow part to the cold end."""

SAMPLE = 2000
"""Variables from whose differences of cost temperatures are found."""


class Differences(NamedTuple):
    """What the values of some variables cost more than the present ones; those of one variable are adjacent."""

    owner: NDArray[np.int64]  # the variable, counted from 0
    rise: NDArray[np.float64]  # in units; 0 for the present value, negative downhill


def joined(one: Differences, other: Differences) -> Differences:
    """The differences of both, as of different variables."""
    owner = np.concatenate([one.owner, one.owner.max(initial=-1) + 1 + other.owner])
    return Differences(owner, np.concatenate([one.rise, other.rise]))


class Range(NamedTuple):
    """Where annealing begins and ends, in units of the differences."""

    hot: float
    cold: float
    stepped: float  # 1 where differences of cost come in steps (integers of size 1, say), 0 where in all sizes


class Cycle(NamedTuple):
    """The temperatures of a cycle of annealing, in units."""

    top: float  # where it begins
    bottom: float  # where its slow part ends
    end: float  # where it ends

    def cooled(self, parts: NDArray[np.float64], power: float) -> NDArray[np.float64]:
        """Temperatures after these parts of it: T⁻ᵖ rises evenly from top to bottom, then ln T falls to the end.

        With p = 0 the first is ln T as well.
        """
        top, bottom = max(self.top, 1e-300), max(self.bottom, 1e-300)
        slow = np.minimum(parts / (1.0 - TAIL), 1.0)
        if power:
            falling = top * (1.0 + slow * ((top / bottom) ** power - 1.0)) ** (-1.0 / power)
        else:
            falling = top * (bottom / top) ** slow
        tail = np.clip((parts - (1.0 - TAIL)) / TAIL, 0.0, 1.0)
        return np.asarray(falling * (max(self.end, 1e-300) / bottom) ** tail)


def whole_cycle(
    differences: Differences, hot_share: float, hot: float | None = None, cold: float | None = None
) -> Cycle:
    """From the temperature at which `hot_share` of the updates go uphill to that at which nothing more happens.

    `hot` and `cold` replace what is found from the differences of cost around a local minimum.
    """
    found = temperature_range(differences, hot_share)
    top = found.hot if hot is None else hot
    if cold is not None:
        return Cycle(max(top, cold), cold, cold)
    end = min(max(found.cold, top / 50), top / 5)
    warm = max(end, 0.25 * top)
    return Cycle(top, end**found.stepped * warm ** (1.0 - found.stepped), end)


def temperature_range(differences: Differences, hot_share: float) -> Range:
    """Temperatures from `hot_share` of the updates uphill down to where nothing more happens.

    With differences of all sizes down to 0 the share p of updates that go uphill falls about as T does, and nothing is
    special about any temperature: the range ends at p = 1 %, since below it only the smallest differences are decided.
    With a smallest step δ it falls as exp(−δ / T), much faster: a little more cooling then freezes everything, and
    ending before leaves defects that no descent repairs. Which of the two it is shows in d ln p / d ln T from p = 1 %
    to 0.1 %, about 1 or δ / T ≈ 5: the range ends at 0.1 % if it is 4 or more, in between if it lies between 2 and 4.

    Fewer than 100 variables say little about the rest of the landscape, and take no time: their cycles begin hot.
    """
    if len(np.unique(differences.owner)) < 100:
        hot_share = max(hot_share, 0.25)
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
