"""Functions that toulbar2's files name by keyword, as tables: the ones that are small tables, or fall apart into some.

The rest (regular, grammar, cardinality …) are refused by their name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Container, Hashable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]

_LARGEST = 2**20  # cells of a function that cannot be taken apart, and parts of one that can
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


def expand(
    keyword: str, words: Words, shape: tuple[int, ...], top: float, left: int, known: Container[Recipe]
) -> list[Part]:
    """The tables that mean the same as a function on variables of these domain sizes; `top` and more is forbidden.

    Refused if those that are not `known` would count for more than the `left` cells.
    """
    if keyword not in _KEYWORDS:
        raise NotSupported("only tables of costs are")
    pairs = len(shape) * (len(shape) - 1) // 2
    parts = None if pairs > _LARGEST or PART * pairs > left else _KEYWORDS[keyword](keyword, words, shape, top)
    if parts is None or counted(parts, known) > left:
        raise NotSupported(f"it would take more than the {max(left, 0)} cells that are left (max_cells)")
    return parts


def counted(parts: Sequence[Part], known: Container[Recipe]) -> int:
    """How many cells some parts count for: those of each table that is not known yet, and `PART` each."""
    return sum(recipe.size for recipe in {recipe for _, recipe in parts} if recipe not in known) + PART * len(parts)


def _all_different(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    metric, cost = words.word(), words.number()
    if metric == "hard" or cost >= top:
        cost = np.inf
    elif metric not in ("dec", "decbi"):
        if keyword == "walldiff":
            raise NotSupported("only its hard form is")
        return [(tuple(range(len(shape))), _small(_repeated, shape, cost))]
    recipes = {pair: Recipe(_equal, pair, (cost,)) for pair in set(itertools.combinations(shape, 2))}
    return [((a, b), recipes[shape[a], shape[b]]) for a, b in itertools.combinations(range(len(shape)), 2)]


def _equal(shape: tuple[int, ...], cost: float) -> Table:
    return np.where(np.eye(shape[0], shape[1]) > 0, cost, 0.0)


def _repeated(shape: tuple[int, ...], cost: float) -> Table:
    """A cost for each variable that must change for all to differ: their number less the different values."""
    values = np.indices(shape).reshape(len(shape), -1)
    different = sum((values == v).any(axis=0).astype(np.float64) for v in range(max(shape, default=0)))
    return cost * np.asarray(len(shape) - different).reshape(shape)


def _small(make: Callable[..., Table], shape: tuple[int, ...], *parameters: Hashable) -> Recipe:
    if math.prod(shape) > _LARGEST or len(shape) > 60:
        raise NotSupported(f"on these variables it has more than {_LARGEST} cells")
    return Recipe(make, shape, parameters)


def _arithmetic(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """``x ⋄ y + constant``, violated by up to `delta` at that cost."""
    _check_pair(shape)
    return [((0, 1), Recipe(_compared, shape, (keyword, words.integer(), words.integer())))]


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


def _disjunction(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """``x ≥ y + cy or y ≥ x + cx``; ``sdisj`` has a value of each variable that escapes it at a cost."""
    _check_pair(shape)
    gaps = words.integer(), words.integer()
    if keyword == "disj":
        return [((0, 1), Recipe(_apart, shape, (*gaps, words.number())))]
    last = words.integer(), words.integer()
    return [((0, 1), Recipe(_apart_or_out, shape, (*gaps, *last, words.number(), words.number())))]


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


def _knapsack(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """Weights of the variables that are 1 sum up to the capacity or more."""
    capacity = words.integer()
    weights = tuple(words.integer() for _ in shape)
    if any(size != 2 for size in shape):
        raise NotSupported("it takes variables of two values")
    return [(tuple(range(len(shape))), _small(_carried, shape, capacity, weights))]


def _carried(shape: tuple[int, ...], capacity: int, weights: tuple[int, ...]) -> Table:
    total = np.array(weights, dtype=np.float64) @ np.indices(shape).reshape(len(shape), -1)
    return np.where(total >= capacity, 0.0, np.inf).reshape(shape)


def _clique(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """At most one variable takes a value of its set."""
    if words.integer() != 1:
        raise NotSupported("only a limit of 1 is")
    chosen: list[bytes] = []
    seen: dict[bytes, bytes] = {}  # equal sets are one object, so that telling them apart is fast
    for size in shape:
        taken = bytearray(size)
        for _ in range(words.integer()):
            value = words.integer()
            if not 0 <= value < size:
                raise NotSupported(f"value {value} is not in a variable's domain")
            taken[value] = 1
        chosen.append(seen.setdefault(bytes(taken), bytes(taken)))
    return [
        ((a, b), Recipe(_excluded, (shape[a], shape[b]), (chosen[a], chosen[b])))
        for a, b in itertools.combinations(range(len(shape)), 2)
    ]


def _excluded(shape: tuple[int, ...], first: bytes, second: bytes) -> Table:
    rows, columns = (np.frombuffer(taken, dtype=np.bool_) for taken in (first, second))
    return np.where(rows[:, None] & columns[None, :], np.inf, 0.0)


_KEYWORDS: dict[str, Callable[[str, Words, tuple[int, ...], float], list[Part]]] = {
    **dict.fromkeys((">=", ">", "<=", "<", "="), _arithmetic),
    **dict.fromkeys(("salldiff", "salldiffdp", "salldiffkp", "walldiff"), _all_different),
    **dict.fromkeys(("disj", "sdisj"), _disjunction),
    "knapsack": _knapsack,
    "clique": _clique,
}
