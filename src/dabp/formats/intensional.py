"""Functions that toulbar2's files name by keyword, as tables: the ones that are small tables, or fall apart into some.

The rest (regular, grammar, cardinality …) are refused by their name.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]
Part = tuple[tuple[int, ...], Table]
"""Positions in the scope, and the costs of those variables' values."""

_LARGEST = 2**20  # cells of a function that cannot be taken apart, and parts of one that can

PART = 16
"""Cells that a part counts for besides its table: what a factor takes in memory while it is read."""


class NotSupported(Exception):  # noqa: N818 - readers turn it into a FormatError with the place
    """Why a function cannot be a table."""


class Words:
    """The parameters after a keyword, taken one at a time."""

    def __init__(self, words: Iterator[str]):
        self._words = words
        self.taken = 0

    def word(self) -> str:
        """The next parameter."""
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


def expand(keyword: str, words: Words, shape: tuple[int, ...], top: float, left: int) -> list[Part]:
    """The tables that mean the same as a function on variables of these domain sizes; `top` and more is forbidden.

    Parts with equal costs share one array. Nothing is allocated that would count for more than the `left` cells.
    """
    if keyword not in _KEYWORDS:
        raise NotSupported("only tables of costs are")
    pairs = len(shape) * (len(shape) - 1) // 2
    cells = max((a * b for a, b in itertools.combinations(sorted(shape)[-2:], 2)), default=1)
    cells *= pairs if keyword == "clique" or len(set(shape)) > 1 else 1
    if pairs > _LARGEST or cells + PART * pairs > left:
        raise NotSupported(f"it would take more than the {max(left, 0)} cells that are left (max_cells)")
    return _KEYWORDS[keyword](keyword, words, shape, top)


def counted(parts: Sequence[Part]) -> int:
    """How many cells some parts count for: those of each different table, and `PART` each."""
    return sum({id(table): table.size for _, table in parts}.values()) + PART * len(parts)


def _all_different(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    metric, cost = words.word(), words.number()
    if metric == "hard" or cost >= top:
        cost = np.inf
    elif metric not in ("dec", "decbi"):
        return [(tuple(range(len(shape))), cost * _repeated(keyword, shape))]
    tables = {(a, b): np.where(np.eye(a, b) > 0, cost, 0.0) for a, b in set(itertools.combinations(shape, 2))}
    return [((a, b), tables[shape[a], shape[b]]) for a, b in itertools.combinations(range(len(shape)), 2)]


def _repeated(keyword: str, shape: tuple[int, ...]) -> Table:
    """How many variables must change for all to differ: their number less the different values."""
    if keyword == "walldiff":
        raise NotSupported("only its hard form is")
    values = _grid(shape)
    largest = max(shape, default=0)
    different = sum((values == v).any(axis=0).astype(np.float64) for v in range(largest))
    return np.asarray(len(shape) - different).reshape(shape)


def _grid(shape: tuple[int, ...]) -> NDArray[np.int64]:
    """Every combination of values, [variables, cells]."""
    if math.prod(shape) > _LARGEST or len(shape) > 60:
        raise NotSupported(f"on these variables it has more than {_LARGEST} cells")
    return np.indices(shape).reshape(len(shape), -1)


def _arithmetic(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """``x ⋄ y + constant``, violated by up to `delta` at that cost."""
    x, y = _pair(shape)
    constant, delta = words.integer(), words.integer()
    excess = {
        ">=": y + constant - x,
        ">": y + constant + 1 - x,
        "<=": x - constant - y,
        "<": x - constant + 1 - y,
        "=": np.abs(y + constant - x),
    }[keyword]
    return [((0, 1), np.where(excess <= 0, 0.0, np.where(excess <= delta, excess, np.inf)))]


def _pair(shape: tuple[int, ...]) -> tuple[Table, Table]:
    if len(shape) != 2:
        raise NotSupported("it takes two variables")
    return np.arange(shape[0], dtype=np.float64)[:, None], np.arange(shape[1], dtype=np.float64)[None, :]


def _disjunction(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """``x ≥ y + cy or y ≥ x + cx``; ``sdisj`` has a value of each variable that escapes it at a cost."""
    x, y = _pair(shape)
    x_gap, y_gap = words.integer(), words.integer()
    apart = (x >= y + y_gap) | (y >= x + x_gap)
    if keyword == "disj":
        return [((0, 1), np.where(apart, 0.0, words.number()))]
    x_last, y_last = words.integer(), words.integer()
    x_cost, y_cost = words.number(), words.number()
    allowed = (x <= x_last) & (y <= y_last) & (apart | (x >= x_last) | (y >= y_last))
    costs = np.where(x == x_last, x_cost, 0.0) + np.where(y == y_last, y_cost, 0.0)
    return [((0, 1), np.where(allowed, costs, np.inf))]


def _knapsack(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """Weights of the variables that are 1 sum up to the capacity or more."""
    capacity = words.integer()
    weights = np.array([words.integer() for _ in shape], dtype=np.float64)
    if any(size != 2 for size in shape):
        raise NotSupported("it takes variables of two values")
    total = weights @ _grid(shape)
    return [(tuple(range(len(shape))), np.where(total >= capacity, 0.0, np.inf).reshape(shape))]


def _clique(keyword: str, words: Words, shape: tuple[int, ...], top: float) -> list[Part]:
    """At most one variable takes a value of its set."""
    if words.integer() != 1:
        raise NotSupported("only a limit of 1 is")
    chosen = []
    for size in shape:
        taken = np.zeros(size, dtype=bool)
        for _ in range(words.integer()):
            value = words.integer()
            if not 0 <= value < size:
                raise NotSupported(f"value {value} is not in a variable's domain")
            taken[value] = True
        chosen.append(taken)
    return [
        ((a, b), np.where(chosen[a][:, None] & chosen[b][None, :], np.inf, 0.0))
        for a, b in itertools.combinations(range(len(shape)), 2)
    ]


_KEYWORDS: dict[str, Callable[[str, Words, tuple[int, ...], float], list[Part]]] = {
    **dict.fromkeys((">=", ">", "<=", "<", "="), _arithmetic),
    **dict.fromkeys(("salldiff", "salldiffdp", "salldiffkp", "walldiff"), _all_different),
    **dict.fromkeys(("disj", "sdisj"), _disjunction),
    "knapsack": _knapsack,
    "clique": _clique,
}

KEYWORDS = frozenset(_KEYWORDS)
"""What `expand` knows."""
