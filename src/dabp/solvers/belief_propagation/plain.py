"""Reinforced belief propagation in NumPy: slower than the kernels, but there is nothing to compile.

`auto` begins with it on a machine whose kernels are not there yet. One iteration is the same as of the compiled
solver: messages from factors (Eq. 3), beliefs with their field, the decoded assignment (Eq. 4), messages from variables
(Eq. 5); the field is H_i = g_t (b_i − min b_i) with g_t = 1 − (1 − rate)^t.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.graph import FactorGraph, FactorGroup
from dabp.problem import Assignment, Problem
from dabp.problem.columns import first_least
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.status import Status

Reals = NDArray[np.float64]

BLOCK_CELLS = 2**18
"""Cells of tables that are looked at in one go: what is temporary stays in the cache."""

FIRST_LENGTH, GROWTH = 60, 3
"""Iterations until the field of the first run is strong, and how many times longer each later run takes."""

PERTURBATION = 0.02
"""Runs after the first add unary costs up to this, in scaled units."""


@dataclass(frozen=True, kw_only=True)
class PlainBeliefPropagation(Solver):
    """Reinforced belief propagation without compiled code, in runs of growing length.

    Parameters
    ----------
    damping
        λ of every edge in the first run; later ones draw it between half of it and 0.7.
    """

    damping: float = 0.3

    def __post_init__(self) -> None:
        if not 0 <= self.damping < 1:
            raise ParameterError(f"bp-plain's damping lies in [0, 1), not {self.damping}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with messages of zero; `initial` changes nothing."""
        return PlainSearch(self, problem, seed, budget.max_iterations)


class PlainSearch(Search):
    """Messages of one run after the other."""

    def __init__(self, solver: PlainBeliefPropagation, problem: Problem, seed: int, most: int | None = None):
        self._total, self._most = 0, most
        self._solver, self._problem, self._rng = solver, problem, generator(seed)
        self._graph = FactorGraph.from_problem(problem, dtype=np.float64, seed=seed)
        self._groups = [_Group(group, self._graph) for group in self._graph.groups]
        self._best_cost = np.inf
        self._run = 0
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
            values = self._iterate()
            costs.append(float(self._problem.cost(values)))
            self._total += 1
            if costs[-1] < self._best_cost or (best is None and not np.isfinite(self._best_cost)):
                self._best_cost, best = min(self._best_cost, costs[-1]), values
            if self._iteration >= 2 * self._length:
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
        """The next run: longer, damped and perturbed otherwise."""
        first = self._run == 0
        self._damping = self._solver.damping if first else float(self._rng.uniform(self._solver.damping / 2, 0.7))
        self._unary = self._graph.unary.astype(np.float64)
        if not first:
            self._unary = self._unary + self._rng.uniform(0.0, PERTURBATION, len(self._unary))
        self._length = FIRST_LENGTH * GROWTH**self._run
        self._field = np.zeros(len(self._unary))
        self._iteration = 0
        self._run += 1
        for group in self._groups:
            group.reset()

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
    """The factors of one shape with their messages, [G, D] for each place in the scope."""

    def __init__(self, group: FactorGroup, graph: FactorGraph):
        self._tables = group.tables.astype(np.float64)
        self._index = group.table_index
        self._shape = group.shape
        starts = graph.variable_offsets[:-1][group.scope]
        self._positions = [starts[:, p, None] + np.arange(size) for p, size in enumerate(group.shape)]
        """Where each message's entries belong among the beliefs, [G, D] for each place."""
        self._rows = max(1, BLOCK_CELLS // max(1, self._tables[0].size))
        self.reset()

    def reset(self) -> None:
        """Messages of zero."""
        count = len(self._index)
        self.v2f = [np.zeros((count, size)) for size in self._shape]
        self.f2v = [np.zeros((count, size)) for size in self._shape]

    def send(self) -> None:
        """f2v of every place: min over the others of the table and their v2f messages (Eq. 3)."""
        arity = len(self._shape)
        for begin in range(0, len(self._index), self._rows):
            rows = slice(begin, begin + self._rows)
            joint = self._tables[self._index[rows]]
            for p in range(arity):
                joint += _along(self.v2f[p][rows], p, arity)
            for p in range(arity):
                others = tuple(axis + 1 for axis in range(arity) if axis != p)
                self.f2v[p][rows] = joint.min(axis=others) - self.v2f[p][rows]

    def gathered(self, length: int) -> Reals:
        """The sum of the f2v messages by value, [sum D]."""
        positions = np.concatenate([rows.ravel() for rows in self._positions])
        total: Reals = np.bincount(positions, np.concatenate([m.ravel() for m in self.f2v]), length)  # type: ignore[assignment]
        return total

    def update(self, belief: Reals, damping: float) -> None:
        """v2f of every place: the belief without the factor's own message, minimum 0, damped (Eq. 5)."""
        for p, positions in enumerate(self._positions):
            fresh = belief[positions] - self.f2v[p]
            fresh -= fresh.min(axis=1, keepdims=True)
            self.v2f[p] = damping * self.v2f[p] + (1.0 - damping) * fresh


def _named(name: str, arrays: list[Reals]) -> dict[str, Reals]:
    return {f"{name} {place}": array for place, array in enumerate(arrays)}


def _along(messages: Reals, axis: int, arity: int) -> Reals:
    """Messages [G, D] as an array that adds to tables [G, …] along one axis."""
    return messages.reshape(len(messages), *(1,) * axis, -1, *(1,) * (arity - axis - 1))
