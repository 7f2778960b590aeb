"""What a sum of terms costs, one per variable, as a chain of small tables through partial sums.

    cost(x_1, …, x_n) = judge(Σ_i w_i(x_i)):   s_i = s_{i−1} + w_i(x_i),   judge(s_{n−1} + w_n(x_n))

Counting, linear inequalities and implications are of this form. Partial sums from which the rest goes on in the same
way are one state, so that the chain is the smallest deterministic automaton of the statement in this order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.columns import Indices, different_rows
from dabp.problem.exactness import decimal

LARGEST_BOUND = 2**62
"""Bounds of a sum beyond this are replaced by it: sums are smaller than half of it."""


@dataclass(frozen=True)
class Judge:
    """What a total costs: nothing within [low, high], outside as much as is said; all in whole units of 1/denominator.

    Attributes
    ----------
    low, high
        The bounds, None for none; not always whole themselves.
    outside
        What a total outside costs, inf for forbidden.
    price
        In its place, what it costs for each 1 that a total is outside.
    denominator
        Units to a 1.
    """

    low: Fraction | None
    high: Fraction | None
    outside: float = math.inf
    price: float | None = None
    denominator: int = 1

    @property
    def first(self) -> int | None:
        """The least total within, or ±2⁶² where that is beyond all sums."""
        return None if self.low is None else max(-LARGEST_BOUND, min(math.ceil(self.low), LARGEST_BOUND))

    @property
    def last(self) -> int | None:
        """The largest total within, or ±2⁶² where that is beyond all sums."""
        return None if self.high is None else max(-LARGEST_BOUND, min(math.floor(self.high), LARGEST_BOUND))

    def costs(self, totals: Indices) -> NDArray[np.float64]:
        """What these totals cost, of any shape."""
        different, which = np.unique(totals, return_inverse=True)
        costs = np.array([self._cost(total) for total in different.tolist()], dtype=np.float64)
        return costs[which].reshape(totals.shape)

    def _cost(self, total: int) -> float:
        below = Fraction(0) if self.low is None else self.low - total
        above = Fraction(0) if self.high is None else total - self.high
        off = max(below, above, Fraction(0))
        if not off:
            return 0.0
        if self.price is None:
            return self.outside
        try:
            return float(decimal(self.price) * off / self.denominator)
        except OverflowError:
            raise ProblemError("the price of a sum makes costs that are too large for a float64") from None

    def merged(self, sums: Indices, least: int, most: int) -> Indices:
        """Partial sums, those that surely end the same way made one; what is still to come adds `least` to `most`."""
        first, last = self.first, self.last
        if last is not None and first is None:
            sums = np.maximum(sums, last - most)  # within, whatever comes
        if first is not None and last is None:
            sums = np.minimum(sums, first - least)
        if self.price is None:  # outside, whatever comes: one state for all
            high = None if last is None else last - least + 1
            low = None if first is None else first - most - 1
            bad = high if high is not None else low
            if bad is not None:
                sums = sums if high is None else np.where(sums >= high, bad, sums)
                sums = sums if low is None else np.where(sums <= low, bad, sums)
        return sums


class Chain(NamedTuple):
    """Tables through states: a state and a value give the next state, [S, D], and at the end a cost, [S, D]."""

    steps: list[Indices]
    costs: NDArray[np.float64]

    @property
    def cells(self) -> int:
        """Of all tables, a step's with an axis for the next state."""
        return sum(step.size * (int(step.max()) + 1) for step in self.steps) + self.costs.size


def chain(terms: Sequence[Indices], judge: Judge, max_cells: int, what: str) -> Chain:
    """The smallest chain for the sum of the terms, [D_i] each, at least two of them; `what` names it in errors."""

    def check(cells: int) -> None:
        if cells > max_cells:
            raise ProblemError(f"{what} needs tables of {cells:,} cells or more, more than {max_cells:,} (max_cells)")

    least = np.cumsum([int(term.min()) for term in terms][::-1])[::-1]
    most = np.cumsum([int(term.max()) for term in terms][::-1])[::-1]
    layer = np.zeros(1, dtype=np.int64)
    entered: list[Indices] = []  # the place in the next layer of each state and value
    for i, term in enumerate(terms):
        if len(layer) * len(term) > 2**18:  # such a step makes tables of the square of its states
            check(max(max_cells + 1, len(layer) ** 2 * len(term)))
        sums = np.add.outer(layer, term)
        if i < len(terms) - 1:
            sums = judge.merged(sums, int(least[i + 1]), int(most[i + 1]))
            layer, place = np.unique(sums, return_inverse=True)
            entered.append(place.reshape(sums.shape))
    rows = judge.costs(sums)
    first, same = different_rows(rows)
    costs = rows[first]
    steps: list[Indices] = []
    for place in reversed(entered):
        after = same[place]
        first, same = different_rows(after.view(np.float64))  # equal bits are all it looks at
        steps.append(after[first])
    result = Chain(steps[::-1], costs)
    check(result.cells)
    return result


class Numbers(NamedTuple):
    """Exact numbers: integers, to be divided by a denominator."""

    integers: list[int]
    denominator: int


def exact_numbers(values: Sequence[object], what: str) -> Numbers:
    """Finite numbers as people wrote them."""
    if all(type(value) is int for value in values):
        return Numbers(list(values), 1)  # type: ignore[arg-type]
    fractions = [exact(value, what) for value in values]
    denominator = math.lcm(*(number.denominator for number in fractions))
    return Numbers([int(number * denominator) for number in fractions], denominator)


def whole_terms(weights: Sequence[Fraction], values: Sequence[Numbers]) -> tuple[list[Indices], int]:
    """Weights times numbers, row by row, as integers of 1/denominator, and the denominator."""
    own = [weight.denominator * row.denominator for weight, row in zip(weights, values, strict=True)]
    denominator = math.lcm(*own)
    scales = [weight.numerator * (denominator // part) for weight, part in zip(weights, own, strict=True)]
    largest = (max(abs(max(row.integers)), abs(min(row.integers))) for row in values)
    if sum(abs(scale) * most for scale, most in zip(scales, largest, strict=True)) > LARGEST_BOUND // 2:
        raise ProblemError("the terms of a sum are too large, or have too many decimals, to be added up exactly")
    terms = [
        np.array(row.integers, dtype=np.int64) * scale if scale else np.zeros(len(row.integers), dtype=np.int64)
        for row, scale in zip(values, scales, strict=True)
    ]
    return terms, denominator


def exact(value: object, what: str) -> Fraction:
    """A finite number as people wrote it."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, int | Fraction):
        return Fraction(value)
    if not isinstance(value, float) or not math.isfinite(value):
        raise ProblemError(f"{what} is a finite number, not {value!r}")
    return decimal(value)
