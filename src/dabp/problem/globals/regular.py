"""The arguments' symbols, read one after the other, are a word that a finite automaton accepts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from dabp.errors import ProblemError
from dabp.problem.blocks import Building
from dabp.problem.columns import Indices
from dabp.problem.globals.base import Floats, GlobalFunction, Symbols, priced
from dabp.problem.sums import Chain, add_chain, exact_numbers, smallest

FAR = 2**60
"""The distance of what cannot be reached."""

MOST = 2**50
"""Sums of weights stay below this many units."""


@dataclass(frozen=True)
class Regular(GlobalFunction):
    """The cheapest run of an automaton, which need not be deterministic; a word that is not accepted violates it.

    The violation is 1 for such a word (``once``), or the least number of symbols to change (``changes``), or to change,
    insert or leave out (``edits``) so that it is accepted. With ``weights`` it is the least sum of weights of a run,
    and a word without one is forbidden.
    """

    MEASURES: ClassVar = ("once", "changes", "edits", "weights")

    states: int = 1
    initial: tuple[tuple[int, float], ...] = ((0, 0.0),)
    """States and the weight of starting there."""
    final: tuple[tuple[int, float], ...] = ()
    """States and the weight of ending there."""
    transitions: tuple[tuple[int, int, int, float], ...] = ()
    """State, symbol, next state, weight; of several between two states by one symbol the last counts."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for start, _, end, _ in self.transitions:
            if not (0 <= start < self.states and 0 <= end < self.states):
                raise ProblemError(f"a transition from {start} to {end} leaves the {self.states} states of regular")
        for state, _ in (*self.initial, *self.final):
            if not 0 <= state < self.states:
                raise ProblemError(f"{state} is not one of the {self.states} states of regular")

    @property
    def own_cells(self) -> int:
        """Of a table from state to state for each symbol."""
        return self.states**2 * (1 + len({symbol for _, symbol, _, _ in self.transitions}))

    @cached_property
    def _whole(self) -> tuple[list[int], int]:
        """All weights in whole units, so that sums of decimals are exact, and units to a 1."""
        parts = (self.initial, self.final, self.transitions)
        weights = [each[-1] if self.measure == "weights" else 0.0 for part in parts for each in part]
        whole, unit = exact_numbers(weights, "a weight of an automaton")
        if max(map(abs, whole), default=0) > MOST:
            raise ProblemError("the weights of an automaton are too large, or have too many decimals, to be added up")
        return whole, unit

    def _ends(self, pairs: tuple[tuple[int, float], ...], weights: Sequence[int]) -> Indices:
        distances = np.full(self.states, FAR, dtype=np.int64)
        for (state, _), weight in zip(pairs, weights, strict=True):
            distances[state] = weight
        return distances

    @cached_property
    def _start(self) -> Indices:
        """The distance of each state before the first symbol, [1, states]."""
        start = self._ends(self.initial, self._whole[0][: len(self.initial)])[None, :]
        return _through(start, self._inserted) if self.measure == "edits" else start

    @cached_property
    def _end(self) -> Indices:
        """The distance from each state to acceptance, [states]."""
        first = len(self.initial)
        return self._ends(self.final, self._whole[0][first : first + len(self.final)])

    @cached_property
    def _any(self) -> Indices:
        """Distance 1 for each two states with a transition, [states, states]."""
        distances = np.full((self.states, self.states), FAR, dtype=np.int64)
        for start, _, end, _ in self.transitions:
            distances[start, end] = 1
        return distances

    @cached_property
    def _inserted(self) -> Indices:
        """Distances from state to state without reading a symbol."""
        closed = np.where(np.eye(self.states, dtype=bool), 0, self._any)
        for _ in range(self.states.bit_length()):
            closed = _through(closed, closed)
        return closed

    @cached_property
    def _moves(self) -> tuple[dict[int, Indices], Indices]:
        """Distances from state to state by reading a symbol, and by reading one that no transition has."""
        other = self._any if self.measure in ("changes", "edits") else np.full_like(self._any, FAR)
        by_symbol: dict[int, Indices] = {}
        weights = self._whole[0][len(self.initial) + len(self.final) :]
        for (start, symbol, end, _), weight in zip(self.transitions, weights, strict=True):
            by_symbol.setdefault(symbol, other.copy())[start, end] = weight
        if self.measure == "edits":
            left_out = np.where(np.eye(self.states, dtype=bool), 1, FAR)
            by_symbol = {s: _through(np.minimum(own, left_out), self._inserted) for s, own in by_symbol.items()}
            other = _through(np.minimum(other, left_out), self._inserted)
        return by_symbol, other

    def _read(self, distances: Indices, symbol: int) -> Indices:
        """Distances of states, [n, states], after a symbol."""
        by_symbol, other = self._moves
        return _through(distances, by_symbol.get(symbol, other))

    def _amounts(self, least: Indices) -> Floats:
        """The violation of each least distance."""
        if self.measure == "once":
            return (least >= FAR // 2).astype(np.float64)
        return np.where(least >= FAR // 2, np.inf, least / self._whole[1])

    def violation(self, rows: Indices) -> Floats:
        """The least distance over all runs."""
        distances = np.repeat(self._start, len(rows), axis=0)
        for column in rows.T:
            for symbol in np.unique(column).tolist():
                these = column == symbol
                distances[these] = self._read(distances[these], symbol)
        return self._amounts((distances + self._end).min(axis=1))

    def decompose_large(self, build: Building, scope: Sequence[int], symbols: Symbols) -> None:
        """A deterministic automaton: its states are distances of all states less the least, which a step costs."""
        layer, steps, weights, cells = self._start, list[Indices](), list[Floats](), 0
        what = f"regular over {len(scope):,} variables"
        for own in symbols:
            different, place = np.unique(own, return_inverse=True)
            build.check(len(layer) * self.states * max(self.states, len(different)), what)
            after = np.stack([self._read(layer, symbol) for symbol in different.tolist()], axis=1)
            if len(steps) == len(symbols) - 1:
                costs = priced(self._amounts((after + self._end).min(axis=2)), self.price)[:, place]
                break
            least = after.min(axis=2)
            least[least == FAR] = 0
            after = np.where(after == FAR, FAR, after - least[..., None])
            layer, number = np.unique(after.reshape(-1, self.states), axis=0, return_inverse=True)
            cells += least.size * len(layer)
            build.check(cells, what)
            steps.append(number.reshape(least.shape)[:, place])
            weights.append(priced(least / self._whole[1], self.price)[:, place])
        add_chain(build, scope, smallest(Chain(steps, costs, weights)))


def _through(first: Indices, second: Indices) -> Indices:
    """Least distances by one and then the other: [n, states] and [states, states]."""
    least = np.full((len(first), second.shape[1]), FAR, dtype=np.int64)
    for state in range(second.shape[0]):
        np.minimum(least, first[:, state, None] + second[None, state], out=least)
    return np.where(least >= FAR // 2, FAR, least)
