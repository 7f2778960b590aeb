"""How many pairs of arguments have one symbol other than 0, compared with a bound."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Symbols
from dabp.problem.globals.linear import Linear
from dabp.problem.sums import add_sum


@dataclass(frozen=True)
class Overlap(GlobalFunction):
    """The number of places at which both halves of the arguments have one symbol, and not 0, is as `number` says."""

    number: Linear = field(default_factory=Linear)

    def violation(self, rows: Indices) -> Floats:
        """How badly the number of such places violates the bound."""
        half = rows.shape[1] // 2
        shared = (rows[:, :half] == rows[:, half:]) & (rows[:, :half] != 0)
        return self.number.violation(shared.sum(axis=1, keepdims=True))

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """An auxiliary variable for each place, shared or not, and their sum."""
        half, shared = len(scope) // 2, []
        for place in range(half):
            a, b = symbols[place], symbols[place + half]
            build.check(2 * len(a) * len(b), f"overlap over {len(scope):,} variables")
            equal = (a[:, None] == b[None, :]) & (a != 0)[:, None]
            shared.append(build.define([scope[place], scope[place + half]], equal.astype(np.int64), 2))
        add_sum(build, shared, [np.arange(2)] * half, self.number.judge, "overlap")
