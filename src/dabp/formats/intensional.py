"""Functions of two variables that toulbar2's files name by keyword, as tables; `functions` has those of more."""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]

PART = 16
"""Cells that a part counts for besides its table: what a factor takes in memory while it is read."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """A table that is not made yet: equal ones are one table, however many functions of a file state it."""

    make: Callable[..., Table]
    shape: tuple[int, ...]
    parameters: tuple[Hashable, ...]

    @property
    def size(self) -> int:
        """Its number of cells."""
        return math.prod(self.shape)

    def table(self) -> Table:
        """The costs, made anew with each call."""
        return self.make(self.shape, *self.parameters)


Part = tuple[tuple[int, ...], Recipe]
"""Positions in the scope, and the costs of those variables' values."""


class NotSupported(Exception):  # noqa: N818 - readers turn it into a FormatError with the place
    """Why a function cannot be a table."""


class Words:
    """The parameters after a keyword, taken one at a time."""

    def __init__(self, words: Iterator[str]):
        self._words = words
        self.taken = 0

    def word(self) -> str:
        """The next parameter as text."""
        try:
            self.taken += 1
            return next(self._words)
        except StopIteration:
            raise NotSupported("its parameters end early") from None

    def number(self) -> float:
        """The next parameter as a number."""
        word = self.word()
        try:
            value = float(word)
        except ValueError:
            raise NotSupported(f"a number was expected, {word[:40]!r} found") from None
        if math.isnan(value):
            raise NotSupported("a parameter is not a number")
        return value

    def integer(self) -> int:
        """The next parameter as an integer."""
        value = self.number()
        if value != np.rint(value) or abs(value) > 2**53:
            raise NotSupported(f"an integer was expected, {value:g} found")
        return int(value)


def expand(keyword: str, words: Words, shape: tuple[int, ...], left: int, known: Container[Recipe]) -> list[Part]:
    """The table of a function on variables of these domain sizes, one of `KEYWORDS`.

    Refused if it is not `known` and would count for more than the `left` cells.
    """
    parts = [KEYWORDS[keyword](keyword, words, shape)]
    if counted(parts, known) > left:
        raise NotSupported(f"it would take more than the {max(left, 0)} cells that are left (max_cells)")
    return parts


def counted(parts: Sequence[Part], known: Container[Recipe]) -> int:
    """How many cells some parts count for: those of each table that is not known yet, and `PART` each."""
    return sum(recipe.size for recipe in {recipe for _, recipe in parts} if recipe not in known) + PART * len(parts)


def _arithmetic(keyword: str, words: Words, shape: tuple[int, ...]) -> Part:
    """``x ⋄ y + constant``, violated by up to `delta` at that cost."""
    _check_pair(shape)
    return (0, 1), Recipe(_compared, shape, (keyword, words.integer(), words.integer()))


def _compared(shape: tuple[int, ...], keyword: str, constant: int, delta: int) -> Table:
    x, y = _pair(shape)
    if keyword == "=":
        excess = np.abs(y + constant - x)
    elif keyword in (">=", ">"):
        excess = y + (constant + (keyword == ">")) - x
    else:
        excess = x - (constant - (keyword == "<")) - y
    return np.where(excess <= 0, 0.0, np.where(excess <= delta, excess, np.inf))


def _check_pair(shape: tuple[int, ...]) -> None:
    if len(shape) != 2:
        raise NotSupported("it takes two variables")


def _pair(shape: tuple[int, ...]) -> tuple[Table, Table]:
    return np.arange(shape[0], dtype=np.float64)[:, None], np.arange(shape[1], dtype=np.float64)[None, :]


def _disjunction(keyword: str, words: Words, shape: tuple[int, ...]) -> Part:
    """``x ≥ y + cy or y ≥ x + cx``; ``sdisj`` has a value of each variable that escapes it at a cost."""
    _check_pair(shape)
    gaps = words.integer(), words.integer()
    if keyword == "disj":
        return (0, 1), Recipe(_apart, shape, (*gaps, words.number()))
    last = words.integer(), words.integer()
    return (0, 1), Recipe(_apart_or_out, shape, (*gaps, *last, words.number(), words.number()))


def _apart(shape: tuple[int, ...], x_gap: int, y_gap: int, penalty: float) -> Table:
    x, y = _pair(shape)
    return np.where((x >= y + y_gap) | (y >= x + x_gap), 0.0, penalty)


def _apart_or_out(
    shape: tuple[int, ...], x_gap: int, y_gap: int, x_last: int, y_last: int, x_cost: float, y_cost: float
) -> Table:
    x, y = _pair(shape)
    apart = (x >= y + y_gap) | (y >= x + x_gap)
    allowed = (x <= x_last) & (y <= y_last) & (apart | (x >= x_last) | (y >= y_last))
    costs = np.where(x == x_last, x_cost, 0.0) + np.where(y == y_last, y_cost, 0.0)
    return np.where(allowed, costs, np.inf)


KEYWORDS: dict[str, Callable[[str, Words, tuple[int, ...]], Part]] = {
    **dict.fromkeys((">=", ">", "<=", "<", "="), _arithmetic),
    **dict.fromkeys(("disj", "sdisj"), _disjunction),
}
