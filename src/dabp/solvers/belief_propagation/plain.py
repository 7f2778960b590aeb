"""Reinforced belief propagation in NumPy: slower than the kernels, but there is nothing to compile.

`auto` begins with it on a machine whose kernels are not there yet. One iteration is the same as of the compiled
solver: messages from factors (Eq. 3), beliefs with their field, the decoded assignment (Eq. 4), messages from variables
(Eq. 5); the field is H_i = g_t (b_i − min b_i) with g_t = 1 − (1 − rate)^t.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.graph import FactorGraph, FactorGroup
from dabp.problem import Assignment, Problem
from dabp.problem.columns import first_least, offsets_of
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.luby import luby
from dabp.solvers.status import Status

Reals = NDArray[np.float64]

BLOCK_CELLS = 2**18
"""Cells of tables that are looked at in one go: what is temporary stays in the cache."""

FIRST_LENGTH, LENGTH = 60, 200
"""Iterations until the field is strong: in the first run, and in later ones times Luby's 1, 1, 2, 1, 1, 2, 4, …"""

LARGE = 1000
"""Variables from which one slow run beats many: the second takes all the time there is, if that is limited."""

FREEZES = 1.5
"""After so many times its length a run has frozen."""

LONGEST = 100_000
"""Iterations of that one at most."""

SAMPLED = 200_000
"""Cells of each shape of tables that a typical difference is found from, about."""

MANY_CELLS, BREAKS_TIES = 500_000, 1e-6
"""In tables with more cells than this, unary costs of so much break ties, in scaled units."""

FROZEN = 25
"""A run ends when no value has changed for so many iterations, or after twice its length."""

PERTURBATION = (0.02, 0.2)
"""Runs after the first add unary costs up to a part of a typical difference of costs, drawn log-uniformly from here."""


@dataclass(frozen=True, kw_only=True)
class PlainBeliefPropagation(Solver):
    """Reinforced belief propagation without compiled code, in runs of many lengths.

    Parameters
    ----------
    damping
        λ of every edge in the first run; later ones draw it between 0 and 0.7.
    """

    damping: float = 0.3

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise ParameterError(f"bp-plain's damping lies in [0, 1), not {self.damping}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with messages of zero; `initial` changes nothing."""
        return PlainBeliefSearch(self, problem, seed, budget)


class PlainBeliefSearch(Search):
    """Messages of one run after the other."""

    def __init__(self, solver: PlainBeliefPropagation, problem: Problem, seed: int, budget: Budget):
        self._total, self._most, self._guard = 0, budget.max_iterations, budget.guard
        self._started = time.perf_counter()
        self._solver, self._problem, self._rng = solver, problem, generator(seed)
        ties = BREAKS_TIES if len(problem.pool) > MANY_CELLS else None  # the smallest difference would take seconds
        self._graph = FactorGraph.from_problem(problem, dtype=np.float64, seed=seed, perturbation=ties)
        self._groups = [_Group(group, self._graph) for group in self._graph.groups]
        self._typical = _typical_difference(self._graph)
        self._best_cost = np.inf
        self._run = self._iteration = self._changed = 0
        self._values: Assignment | None = None
        self._begin()

    def step(self) -> Step:
        """Iterations for about a block."""
        started = time.perf_counter()
        costs: list[float] = []
        best = None
        if not self._groups:
            values = first_least(self._unary, self._graph.variable_offsets)
            cost = float(self._problem.cost(values))
            return Step(np.array([cost]), values, cost, finished=Status.CONVERGED)
        while not costs or time.perf_counter() - started < BLOCK_SECONDS:
            before, values = self._values, self._iterate()
            if before is None or (values != before).any():
                self._changed, self._cost = self._iteration, float(self._problem.cost(values))
            self._values = values
            costs.append(self._cost)
            self._total += 1
            if costs[-1] < self._best_cost or (best is None and not np.isfinite(self._best_cost)):
                self._best_cost, best = min(self._best_cost, costs[-1]), values
            if self._iteration >= 2 * self._length or self._iteration - self._changed >= FROZEN:
                self._begin()
            if self._total == self._most:
                break
        return Step(np.array(costs), best, float(self._problem.cost(best)) if best is not None else np.inf)

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Messages and the field."""
        v2f = [message for group in self._groups for message in group.v2f]
        f2v = [message for group in self._groups for message in group.f2v]
        return {"the field": self._field, **_named("v2f messages", v2f), **_named("f2v messages", f2v)}

    def _begin(self) -> None:
        """The next run, damped and perturbed otherwise."""
        first = self._run == 0
        self._damping = self._solver.damping if first else float(self._rng.uniform(0.0, 0.7))
        self._unary = self._graph.unary.astype(np.float64)
        if not first:
            most = self._typical * math.exp(self._rng.uniform(*np.log(PERTURBATION)))
            self._unary = self._unary + self._rng.uniform(0.0, most, len(self._unary))
        self._length = self._next_length()
        self._field = np.zeros(len(self._unary))
        self._values = None
        self._iteration = self._changed = 0
        self._cost = np.inf
        self._run += 1
        for group in self._groups:
            group.reset()

    def _next_length(self) -> int:
        """Iterations until the field of the next run is strong."""
        if self._run == 0:
            return FIRST_LENGTH
        length = LENGTH * luby(self._run)
        left = self._guard.seconds_left
        if self._problem.num_variables >= LARGE and math.isfinite(left):
            speed = self._total / (time.perf_counter() - self._started)
            length = int(min(max(left * speed / FREEZES, FIRST_LENGTH), LONGEST))
        return length

    def _iterate(self) -> Assignment:
        """One iteration; the decoded assignment."""
        belief = self._unary + self._field
        for group in self._groups:
            group.send()
            belief += group.gathered(len(belief))
        starts = self._graph.variable_offsets
        least = np.repeat(np.minimum.reduceat(belief, starts[:-1]), self._graph.domain_sizes)
        self._iteration += 1
        strength = 1.0 - (1.0 - 1.0 / self._length) ** self._iteration
        new_field = strength * (belief - least)
        for group in self._groups:
            group.update(belief, self._damping)
        self._field = new_field
        return first_least(belief, starts)


class _Group:
    """The factors of one shape with their messages, [D, G] for each place in the scope: long rows of short loops."""

    def __init__(self, group: FactorGroup, graph: FactorGraph):
        self._tables = np.ascontiguousarray(np.moveaxis(group.tables.astype(np.float64), 0, -1))
        self._index = group.table_index
        self._own = len(self._index) == len(group.tables) and bool((self._index == np.arange(len(self._index))).all())
        self._shape = group.shape
        starts = graph.variable_offsets[:-1][group.scope]
        self._positions = [starts[:, p] + np.arange(size)[:, None] for p, size in enumerate(group.shape)]
        """Where each message's entries belong among the beliefs, [D, G] for each place."""
        self._flat = np.concatenate([positions.ravel() for positions in self._positions])
        cells = math.prod(self._shape)
        self._rows = max(1, BLOCK_CELLS // max(1, cells))
        self._joint = np.empty(cells * min(self._rows, len(self._index)))
        self.reset()

    def reset(self) -> None:
        """Messages of zero."""
        count = len(self._index)
        ends = offsets_of([size * count for size in self._shape])
        self._sent = np.zeros(ends[-1])
        self.v2f = [np.zeros((size, count)) for size in self._shape]
        self.f2v = [self._sent[a:b].reshape(-1, count) for a, b in pairwise(ends.tolist())]

    def send(self) -> None:
        """f2v of every place: min over the others of the table and their v2f messages (Eq. 3)."""
        arity = len(self._shape)
        for begin in range(0, len(self._index), self._rows):
            rows = slice(begin, begin + self._rows)
            tables = self._tables[..., rows] if self._own else self._tables[..., self._index[rows]]
            joint = self._joint[: tables.size].reshape(tables.shape)
            np.add(tables, _along(self.v2f[0][:, rows], 0, arity), out=joint)
            for p in range(1, arity):
                joint += _along(self.v2f[p][:, rows], p, arity)
            for p in range(arity):
                others = tuple(axis for axis in range(arity) if axis != p)
                np.subtract(joint.min(axis=others), self.v2f[p][:, rows], out=self.f2v[p][:, rows])

    def gathered(self, length: int) -> Reals:
        """The sum of the f2v messages by value, [sum D]."""
        total: Reals = np.bincount(self._flat, self._sent, length)  # type: ignore[assignment]
        return total

    def update(self, belief: Reals, damping: float) -> None:
        """v2f of every place: the belief without the factor's own message, minimum 0, damped (Eq. 5)."""
        for p, positions in enumerate(self._positions):
            fresh = belief.take(positions)
            fresh -= self.f2v[p]
            fresh -= fresh.min(axis=0)
            fresh *= 1.0 - damping
            self.v2f[p] *= damping
            self.v2f[p] += fresh


def _typical_difference(graph: FactorGraph) -> float:
    """The median of what cells cost more than the least of their table, where they do and it is not forbidden."""
    rises = []
    for group in graph.groups:
        few = group.tables[: 1 + SAMPLED // group.tables[0].size]
        tables = few.reshape(len(few), -1).astype(np.float64)
        rises.append((tables - tables.min(axis=1, keepdims=True)).ravel())
    rise = np.concatenate([np.zeros(0), *rises])
    rise = rise[rise > 0]
    return float(np.median(rise)) if len(rise) else 0.0


def _named(name: str, arrays: list[Reals]) -> dict[str, Reals]:
    return {f"{name} {place}": array for place, array in enumerate(arrays)}


def _along(messages: Reals, axis: int, arity: int) -> Reals:
    """Messages [D, G] as an array that adds to tables […, G] along one axis."""
    return messages.reshape(*(1,) * axis, len(messages), *(1,) * (arity - axis - 1), -1)
