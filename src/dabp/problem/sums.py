"""What a sum of terms costs, one per variable, as a chain of small tables through partial sums.

    cost(x_1, …, x_n) = judge(Σ_i w_i(x_i)):   s_i = s_{i−1} + w_i(x_i),   judge(s_{n−1} + w_n(x_n))

Counting, linear inequalities and implications are of this form. Partial sums from which the rest goes on in the same
way are one state, so that the chain is the smallest deterministic automaton of the statement in this order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.blocks import Building
from dabp.problem.columns import Indices, different_rows
from dabp.problem.exactness import decimal

SMALL_CELLS = 1024
"""Cells up to which a statement is one table, whatever a chain would need."""

WIDE_VALUES = 16
"""Least number of values of a variable whose values in a sum may be grouped into classes of equal terms."""

VALUES_PER_CLASS = 4
"""Least mean number of values in a class, for which an auxiliary variable takes the variable's place in a sum."""

LARGEST_BOUND = 2**62
"""Bounds of a sum beyond this are replaced by it: sums are smaller than half of it."""


@dataclass(frozen=True)
class Judge:
    """What a total costs: nothing within [low, high], outside as much as its measure says.

    Attributes
    ----------
    low, high
        The bounds, in units of 1/denominator and not always whole; None for none.
    price
        What a violation v costs: ``price * v``, inf for forbidden.
    measure
        What the violation of a total outside is: ``amount``, by how much it is outside; ``once``, 1; ``square``, the
        square of the amount; ``pairs``, a (a + 1)/2 for the amount a.
    denominator
        Units to a 1.
    different
        Whether totals within the bounds violate and others do not, by 1.
    """

    low: Fraction | None
    high: Fraction | None
    price: float = math.inf
    measure: str = "amount"
    denominator: int = 1
    different: bool = False

    @property
    def first(self) -> int | None:
        """The least total within, or ±2⁶² where that is beyond all sums."""
        return None if self.low is None else max(-LARGEST_BOUND, min(math.ceil(self.low), LARGEST_BOUND))

    @property
    def last(self) -> int | None:
        """The largest total within, or ±2⁶² where that is beyond all sums."""
        return None if self.high is None else max(-LARGEST_BOUND, min(math.floor(self.high), LARGEST_BOUND))

    @property
    def steps(self) -> int:
        """Amounts outside of the bounds are whole multiples of 1/steps."""
        return self.denominator * math.lcm(*(one.denominator for one in (self.low, self.high) if one is not None))

    def costs(self, totals: Indices) -> NDArray[np.float64]:
        """What these totals cost, of any shape."""
        different, which = np.unique(totals, return_inverse=True)
        costs = np.array([self._cost(total) for total in different.tolist()], dtype=np.float64)
        return costs[which].reshape(totals.shape)

    def _cost(self, total: int) -> float:
        off = self.violation(total)
        if not off or not self.price:
            return 0.0
        if self.price == math.inf:
            return math.inf
        try:
            return float(decimal(self.price) * off)
        except OverflowError:
            raise ProblemError("the price of a sum makes costs that are too large for a float64") from None

    def violation(self, total: int) -> Fraction:
        """How badly a total violates the bounds."""
        below = Fraction(0) if self.low is None else self.low - total
        above = Fraction(0) if self.high is None else total - self.high
        off = max(below, above, Fraction(0)) / self.denominator
        if self.different:
            return Fraction(not off)
        if self.measure == "amount" or not off:
            return off
        if self.measure == "once":
            return Fraction(1)
        return off**2 if self.measure == "square" else off * (off + 1) / 2

    def merged(self, sums: Indices, least: int, most: int) -> Indices:
        """Partial sums, those that surely end the same way made one; what is still to come adds `least` to `most`."""
        first, last = self.first, self.last
        if self.different:
            if first is not None and last is not None:  # outside, whatever comes
                sums = np.where((sums + most < first) | (sums + least > last), first - most - 1, sums)
            return sums
        if last is not None and first is None:
            sums = np.maximum(sums, last - most)  # within, whatever comes
        if first is not None and last is None:
            sums = np.minimum(sums, first - least)
        if self.price in (0.0, math.inf) or self.measure == "once":  # outside, whatever comes: one state for all
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
    weights: list[NDArray[np.float64]] | None = None
    """What each step costs, [S, D]; None for nothing."""

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
    total = 0
    for i, term in enumerate(terms):
        if len(layer) * len(term) > 2**18:  # such a step makes tables of the square of its states
            check(max(max_cells + 1, len(layer) ** 2 * len(term)))
        total += len(layer) * len(term)
        check(total)
        sums = np.add.outer(layer, term)
        if i < len(terms) - 1:
            sums = judge.merged(sums, int(least[i + 1]), int(most[i + 1]))
            layer, place = np.unique(sums, return_inverse=True)
            entered.append(place.reshape(sums.shape))
    result = smallest(Chain(entered, judge.costs(sums)))
    check(result.cells)
    return result


def smallest(made: Chain) -> Chain:
    """A chain whose states differ in what follows them: those of which all goes on in the same way are one."""
    first, same = different_rows(made.costs)
    costs = made.costs[first]
    steps: list[Indices] = []
    weights: list[NDArray[np.float64]] = []
    for i in reversed(range(len(made.steps))):
        after = same[made.steps[i]]
        whole = after.view(np.float64)  # equal bits are all it looks at
        if made.weights is not None:
            whole = np.concatenate([whole, made.weights[i]], axis=1)
        first, same = different_rows(whole)
        steps.append(after[first])
        if made.weights is not None:
            weights.append(made.weights[i][first])
    return _reached(steps[::-1], weights[::-1], costs)


def _reached(steps: list[Indices], weights: list[NDArray[np.float64]], costs: NDArray[np.float64]) -> Chain:
    """A chain without the states that no step enters."""
    for i, step in enumerate(steps):
        used, place = np.unique(step, return_inverse=True)
        steps[i] = place.reshape(step.shape)
        if i + 1 == len(steps):
            costs = costs[used]
        else:
            steps[i + 1] = steps[i + 1][used]
            if weights:
                weights[i + 1] = weights[i + 1][used]
    return Chain(steps, costs, weights or None)


def add_sum(build: Building, scope: Sequence[int], terms: Sequence[Indices], judge: Judge, kind: str) -> None:
    """Add what a sum with a term of each variable costs: one table, or a chain of them."""
    changing = [bool((term != term[0]).any()) for term in terms]
    axes, parts = list(itertools.compress(scope, changing)), list(itertools.compress(terms, changing))
    fixed = sum(int(term[0]) for term, changes in zip(terms, changing, strict=True) if not changes)
    cells, what = math.prod(map(len, parts)), f"{kind} over {len(scope):,} variables"
    made, classes = None, list(map(_classes, parts))
    if cells > SMALL_CELLS and len(parts) > 2:
        kept = [term if own is None else own[1] for term, own in zip(parts, classes, strict=True)]
        kept[0] = kept[0] + fixed
        build.check(sum(map(len, kept)), what)
        made = chain(kept, judge, build.max_cells, what)
    else:
        build.check(cells, what)
    if made is None or cells <= made.cells:
        total = np.array(fixed, dtype=np.int64)
        for part in parts:
            total = np.add.outer(total, part)
        build.add(axes, judge.costs(total))
        return
    for place, own in enumerate(classes):
        if own is not None:
            axes[place] = build.define([axes[place]], own[0], len(own[1]))
    add_chain(build, axes, made)


def add_chain(build: Building, axes: Sequence[int], made: Chain) -> None:
    """Add auxiliary variables for the states of a chain, and its tables."""
    steps, costs = list(made.steps), made.costs
    if not steps:
        build.add(axes, costs[0])
        return
    weights = [np.zeros((1, 1))] * len(steps) if made.weights is None else list(made.weights)
    build.add([axes[0]], weights[0][0])
    first = steps[0][0]
    sizes = [int(step.max()) + 1 for step in steps]
    if len(steps) > 1 and len(first) * steps[1].shape[1] * sizes[1] <= sizes[0] * (
        len(first) + steps[1].shape[1] * sizes[1]
    ):
        steps[1], state = steps[1][first], axes[0]  # the first variable is the state after itself
        weights[1] = weights[1][first] if len(weights[1]) > 1 else weights[1]
    else:
        state = build.define([axes[0]], first, sizes[0])
    for axis, step, size, weight in zip(axes[1:], steps[1:], sizes[1:], weights[1:], strict=False):
        if weight.any():
            build.add((state, axis), np.broadcast_to(weight, step.shape))
        state = build.define([state, axis], step, size)
    build.add((state, axes[-1]), costs)


def _classes(term: Indices) -> tuple[Indices, Indices] | None:
    """The class of each value by its term and the term of each class; None if classes save too little."""
    different, which = np.unique(term, return_inverse=True)
    return (which, different) if WIDE_VALUES <= len(term) >= VALUES_PER_CLASS * len(different) else None


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
