"""Decimal costs recognised as integers of a unit: then totals are exact, and so are limits, bounds and proofs.

Costs of files are decimals: multiples of 10⁻ᵏ, each rounded to the nearest float64. Their totals are integers of that
unit. Other costs are real: a total is what floating-point addition makes of it.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

LARGEST_TOTAL = 2.0**50
"""Totals of units stay below this, so that solvers have room to add integers up exactly in float64."""

UNIT_ROUNDOFF = 2.0**-53
"""u: the relative error of one operation in float64."""


def least_digits(costs: NDArray[np.float64], total: float) -> int | None:
    """The least k for which every finite cost is a multiple of 10⁻ᵏ, 0 for integers.

    None if there is none for which a `total` of units is still exact: the costs are real.
    """
    if not total > 0.0:  # nobody uses what is not 0
        return 0 if not np.any(costs) else None
    first = max(0, -math.floor(math.log10(total)))
    last = min(math.floor(math.log10(LARGEST_TOTAL) - math.log10(total)), 307)
    at, block = 0, 2**18
    for digits in (0, *range(max(first, 1), last + 1)):
        # Blocks before this one were multiples of a coarser unit, so they are of this one too.
        while at < len(costs) and _are_multiples(costs[at : at + block], digits):
            at += block
        if at >= len(costs):
            return int(digits)
    return None


def in_units(costs: NDArray[np.float64], digits: int) -> NDArray[np.float64]:
    """Decimal costs as integers of 10⁻ᵏ; what is forbidden stays so."""
    return np.rint(costs * 10.0**digits)


def _are_multiples(costs: NDArray[np.float64], digits: int) -> bool:
    """Whether costs are, or are a few units in the last place from, the floats nearest to multiples of 10⁻ᵏ."""
    costs = costs[np.isfinite(costs)]
    if digits == 0:
        return bool((costs == np.rint(costs)).all())
    scale = 10.0**digits
    with np.errstate(over="ignore"):  # of tables that nobody uses
        scaled = costs * scale
    integers = np.rint(scaled)
    exact: NDArray[np.bool_] = integers / scale == costs
    with np.errstate(invalid="ignore"):
        # Larger integers do not tell a computed decimal, a few units in the last place off, from a real number.
        close = (np.abs(integers) < 2.0**40) & (np.abs(scaled - integers) <= 4 * np.spacing(np.abs(scaled)))
    return bool((exact | close).all())


def first_excluded(limit: Fraction, digits: int) -> int:
    """The least integer of 10⁻ᵏ that is not below a limit; one that rounding made a little larger counts as met."""
    units = limit * Fraction(10) ** digits
    nearest = round(units)
    slack = abs(units) * Fraction(8 * UNIT_ROUNDOFF)
    return nearest if abs(units - nearest) <= min(slack, Fraction(1, 8)) else math.ceil(units)


def decimal(value: float) -> Fraction:
    """The shortest decimal number that reads as this float: what a file said."""
    return Fraction(repr(float(value)))
