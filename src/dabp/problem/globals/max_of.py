"""The largest weight of the arguments' values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Symbols, priced
from dabp.problem.sums import Chain, add_chain, smallest


@dataclass(frozen=True)
class MaxOf(GlobalFunction):
    """Costs the largest weight that a value has, at least 0; a symbol is the place of a weight among all in order."""

    weights: tuple[float, ...] = ()

    def violation(self, rows: Indices) -> Floats:
        """The weight of the largest symbol."""
        return np.maximum(np.array(self.weights)[rows.max(axis=1)], 0.0) if rows.shape[1] else np.zeros(len(rows))

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """Maxima of the first arguments, one after the other."""
        steps, before, cells = list[Indices](), np.zeros(1, dtype=np.int64), 0
        for number, own in enumerate(symbols):
            largest = np.maximum.outer(before, own) if number else own[None, :]
            before, place = np.unique(largest, return_inverse=True)
            cells += largest.size * len(before)
            build.check(cells, f"max over {len(scope):,} variables")
            steps.append(place.reshape(largest.shape))
        costs = priced(np.maximum(np.array(self.weights)[largest], 0.0), self.price)
        add_chain(build, scope, smallest(Chain(steps[:-1], costs)))


def ranked(weights: Sequence[Floats]) -> tuple[tuple[float, ...], list[Indices]]:
    """All weights in order, and the place of each value's weight among them."""
    different, places = np.unique(np.concatenate([np.zeros(0), *weights]), return_inverse=True)
    return tuple(different.tolist()), np.split(places, np.cumsum([len(own) for own in weights])[:-1]) if weights else []
