"""A new global function, in the order in which it is written; nothing imports this file, and a test runs it.

1. Copy this file to the name that people call the function by. Fields are its parameters: immutable, so that functions
   are; `price` and `measure` are there already.
2. `violation` is the definition, evaluated on many rows of symbols at once, and as plain as it can be.
3. If the cost is that of one or more sums of integer terms, `sums` states them: tables, linear rows and what toulbar2
   is handed follow. Otherwise `decompose_large` makes small tables through auxiliary variables, each a function of
   variables before it; a function on few cells becomes one table by itself.
4. Add it to `dabp.problem.globals`, a method to `Vocabulary` or `Patterns` that states it in a `Model`, a line each to
   `formats/functions.py`, `formats/meanings.py` and `formats/statements.py` if a file format knows it, and random
   statements with a definition of their own to `tests/problem/globals/definitions.py`, which all tests draw from.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Symbols, all_symbols
from dabp.problem.sums import Chain, add_chain, smallest


@dataclass(frozen=True)
class NotAllEqual(GlobalFunction):
    """Two arguments at least have different symbols; otherwise the violation is 1."""

    MEASURES: ClassVar = ("once",)

    def violation(self, rows: Indices) -> Floats:
        """1 for rows of one symbol."""
        return np.asarray((rows == rows[:, :1]).all(axis=1), dtype=np.float64)

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """The symbol of all arguments so far, or one more state where they differ, as a chain."""
        known = all_symbols(symbols)
        build.check(len(known) ** 2 * sum(map(len, symbols)), f"{self.name} over {len(scope):,} variables")
        place, mixed = {symbol: number for number, symbol in enumerate(known)}, len(known)
        rows = [np.array([place[symbol] for symbol in own.tolist()], dtype=np.int64) for own in symbols]
        steps = [rows[0][None, :]]
        for own in rows[1:]:
            states = np.arange(mixed + 1)[:, None]
            steps.append(np.where(states == own[None, :], states, mixed))
        costs = np.where(steps[-1] < mixed, self.price, 0.0)
        add_chain(build, scope, smallest(Chain(steps[:-1], costs)))
