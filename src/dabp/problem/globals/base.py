"""Global functions: cost functions of any number of variables that have a definition in place of a table.

A function is about *symbols*, integers: a statement names for each of its variables the symbol of each value. So labels
that are equal in different domains have one symbol, and presolve can remove values without a change of the function. An
argument with one symbol alone is a constant.
"""

from __future__ import annotations

import itertools
import math
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ProblemError
from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.exactness import decimal
from dabp.problem.sums import SMALL_CELLS, Judge, add_sum

Floats = NDArray[np.float64]
Symbols = Sequence[Indices]
"""The symbol of each value of each argument."""


class Sum(NamedTuple):
    """A sum with an integer term for each symbol of each argument, and what totals cost."""

    terms: Sequence[Indices]
    judge: Judge


class Row(NamedTuple):
    """A linear row: the sum of the arguments' coefficients is between `low` and `high`, each 1 outside costs `price`.

    For a soft function the price is what each 1 costs at least; an infinite price is a hard row.
    """

    coefficients: Sequence[Floats]
    """One for each value of each argument."""
    low: float
    high: float
    price: float


@dataclass(frozen=True)
class GlobalFunction(ABC):
    """What an assignment costs by definition: `price` for each unit of violation; an infinite price forbids any."""

    MEASURES: ClassVar[tuple[str, ...]] = ()
    """The names of its measures of violation; the first is the default."""

    price: float = field(default=math.inf, kw_only=True)
    measure: str = field(default="", kw_only=True)

    def __post_init__(self) -> None:
        if not self.measure and self.MEASURES:
            object.__setattr__(self, "measure", self.MEASURES[0])
        if self.MEASURES and self.measure not in self.MEASURES:
            known = ", ".join(self.MEASURES)
            raise ProblemError(f"{self.name} has the measures {known}, not {self.measure!r}")
        if self.measure == "weights" and self.hard:
            raise ProblemError(f"{self.name} with weights has a price of 1 or another finite one")

    @property
    def name(self) -> str:
        """What people call it."""
        return re.sub(r"(?<!^)(?=[A-Z])", "_", type(self).__name__).lower()

    @property
    def hard(self) -> bool:
        """Whether it forbids, and costs nothing else."""
        return self.price == math.inf

    @abstractmethod
    def violation(self, rows: Indices) -> Floats:
        """How badly rows of symbols, [assignments, arguments], violate it, [assignments]; 0 if they do not."""

    def costs(self, rows: Indices) -> Floats:
        """What rows of symbols cost, [assignments]."""
        return priced(self.violation(rows), self.price)

    def sums(self, symbols: Symbols) -> Iterable[Sum] | None:
        """Sums whose costs add up to those of the function, one at a time; None if it is no sum."""
        return None

    def rows(self, symbols: Symbols) -> list[Row]:
        """Linear rows that hold, or that price what does not; none if it is not linear."""
        made = [_row(one) for one in self.sums(symbols) or ()]
        return [row for row in made if row is not None]

    @property
    def own_cells(self) -> int:
        """How many cells an evaluation needs for the definition alone."""
        return 0

    def decompose(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """Add tables over the scope and auxiliary variables that cost as much as the function."""
        build.check(self.own_cells, f"{self.name} over {len(symbols):,} variables")
        cells = math.prod(map(len, symbols))
        sums = self.sums(symbols)
        if sums is not None:
            for one in sums:
                build.check(0, self.name)
                add_sum(build, scope, one.terms, one.judge, self.name)
        elif cells <= SMALL_CELLS:
            build.add(scope, self.table(symbols))
        else:
            self.decompose_large(build, scope, symbols)

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """The same for what is no sum, on more than `SMALL_CELLS` cells: one table if there is no other way."""
        build.check(math.prod(map(len, symbols)), f"{self.name} over {len(symbols):,} variables")
        build.add(scope, self.table(symbols))

    def table(self, symbols: Symbols) -> Floats:
        """The costs of all combinations of values in a row, the last argument's fastest."""
        shape = tuple(map(len, symbols))
        places = np.unravel_index(np.arange(math.prod(shape)), shape) if shape else ()
        columns = [own[place] for own, place in zip(symbols, places, strict=True)]
        rows = np.stack(columns, axis=1) if columns else np.zeros((1, 0), dtype=np.int64)
        return self.costs(rows)


class Posted(NamedTuple):
    """A global function as a problem states it."""

    function: GlobalFunction
    scope: tuple[int, ...]
    """The variable of each argument; −1 for a constant."""
    symbols: tuple[Indices, ...]
    """The symbol of each value of each argument."""
    factors: tuple[int, ...]
    """The factors that it is decomposed into, definitions included; none if it only follows from others."""
    name: str

    def costs(self, assignments: Indices) -> Floats:
        """What it costs under assignments of the problem, [assignments, variables], as in a minimisation."""
        columns = [
            own[assignments[:, variable]] if variable >= 0 else np.full(len(assignments), own[0])
            for variable, own in zip(self.scope, self.symbols, strict=True)
        ]
        return self.function.costs(np.stack(columns, axis=1) if columns else np.zeros((len(assignments), 0), dtype=int))


def priced(amounts: Floats, price: float) -> Floats:
    """Each amount times the price as decimals, rounded once; 0 stays 0 at any price."""
    different, which = np.unique(amounts, return_inverse=True)
    return np.array([_worth(amount, price) for amount in different.tolist()])[which].reshape(amounts.shape)


def _worth(amount: float, price: float) -> float:
    if amount == 0 or price == 0:
        return 0.0
    if math.isinf(amount) or math.isinf(price):
        return math.copysign(math.inf, amount)
    try:
        return float(decimal(amount) * decimal(price))
    except OverflowError:
        raise ProblemError("the price of a violation makes costs that are too large for a float64") from None


def counts(rows: Indices, symbol: int) -> Indices:
    """How often each row has a symbol, [assignments]."""
    return np.asarray((rows == symbol).sum(axis=1), dtype=np.int64)


def marks(symbols: Symbols, symbol: int) -> list[Indices]:
    """1 for each value that has the symbol, else 0; equal arguments share an array."""
    made: dict[int, Indices] = {}
    for own in symbols:
        if id(own) not in made:
            made[id(own)] = (own == symbol).astype(np.int64)
    return [made[id(own)] for own in symbols]


def all_symbols(symbols: Symbols) -> list[int]:
    """The different symbols of all arguments, in order."""
    different = {id(own): own for own in symbols}.values()
    return sorted(set(itertools.chain.from_iterable(own.tolist() for own in different)))


def _row(one: Sum) -> Row | None:
    """The linear row of a sum."""
    judge = one.judge
    unit = judge.denominator
    if judge.different or (judge.low is None and judge.high is None) or judge.price == 0:
        return None
    low = -math.inf if judge.low is None else float(judge.low / unit)
    high = math.inf if judge.high is None else float(judge.high / unit)
    slope = judge.price
    if judge.measure == "once" and judge.price < math.inf:
        least, most = sum(int(t.min()) for t in one.terms) / unit, sum(int(t.max()) for t in one.terms) / unit
        slope /= max(low - least, most - high, 1 / unit)
    elif judge.measure in ("square", "pairs"):  # by the least violation there can be
        least = 1 / judge.steps
        slope *= least if judge.measure == "square" else (1 + least) / 2
    return Row([term / unit for term in one.terms], low, high, slope)
