"""Annealing of the variables that others follow from: sums and counts stated through partial sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.graph.following import Definition, following
from dabp.kernels.local_search.following_moves import (
    PROGRESS,
    Cooling,
    Wave,
    Web,
    follow,
    settle_all,
    try_moves,
)
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, cell_strides, offsets_of, ragged_positions
from dabp.problem.facts import derived
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.status import Status

HOT = 0.5
"""The first temperature of a cycle, as a part of the median change of cost."""

COLD = 0.01
"""The last temperature of a cycle, as a part of the median change of cost."""

HEAVIEST = 20.0
"""The weight of a violation, as a multiple of the median change of cost, beyond which finite costs weigh less."""


@dataclass(frozen=True, kw_only=True)
class FollowingAnnealing(Solver):
    """Simulated annealing that changes one or two free variables and lets the others follow.

    Where sums, counts and copies are stated through auxiliary variables, a search that moves one variable at a time
    is stuck: all partial sums behind a changed term would have to change. Here they follow from the free variables
    (`graph.following`). Cycles become longer, two of three begin at the best answer. It proves nothing. One iteration
    is ten moves for each free variable, but between 1,000 and 100,000 moves.
    """

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin at `initial` or at a random assignment."""
        return FollowingSearch(problem, seed, initial)


class FollowingSearch(Search):
    """Cycles of falling temperature."""

    def __init__(self, problem: Problem, seed: int, initial: Assignment | None):
        self._problem = problem
        self._rng = generator(seed)
        self._web = web_of(problem)
        self._wave = wave_of(self._web, int(self._rng.integers(2**63)))
        self._free = len(self._web.free)
        self._reported = np.inf
        self._cycle, self._left, self._length = 0, 0, 200.0 * max(1, self._free)
        self._temperature, self._ratio = 1.0, 1.0
        self._begin(self._random() if initial is None else initial)
        changes = np.zeros(500)
        if self._free:
            try_moves(self._web, self._wave, changes)
        rises = np.abs(changes[changes != 0.0])
        self._unit = float(np.median(rises)) if len(rises) else 1.0
        self._wave.progress["weight"] = self._unit

    def step(self) -> Step:
        """One iteration, at most to the end of the cycle."""
        if not self._free:
            step = self._report()
            step.finished = Status.CONVERGED
            return step
        if self._left == 0:
            self._next_cycle()
        count = min(self._left, max(1_000, 10 * self._free), 100_000)
        rules = Cooling(count, self._temperature, self._ratio, 10 * self._free, 1.2, HEAVIEST * self._unit)
        follow(self._web, self._wave, rules)
        self._left -= count
        self._temperature *= self._ratio**count
        weight = float(self._wave.progress["weight"])
        self._wave.progress["weight"] = min(max(weight, 0.05 * self._unit), 1e4 * rules.heaviest)
        return self._report()

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Take a better answer: cycles that begin at the best then begin at it."""
        if cost < self._reported:
            self._reported = cost
            self._wave.best[:] = assignment
            self._wave.progress["feasible"], self._wave.progress["best"] = 1, cost

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The cost, that of the best answer and the weight of violations."""
        return {"costs": np.array([float(self._wave.progress[name]) for name in ("soft", "best", "weight")])}

    def _report(self) -> Step:
        least = float(self._wave.progress["best"])
        if not self._wave.progress["feasible"] or least >= self._reported:
            return Step(np.array([np.inf]))
        best = self._wave.best.copy()
        cost = float(self._problem.cost(best))
        better, self._reported = cost < self._reported, min(self._reported, least, cost)
        return Step(np.array([cost]), best if better else None, cost if better else np.inf)

    def _next_cycle(self) -> None:
        """Begin a longer cycle from the best, from a random assignment or, without an answer, from the present one."""
        feasible = bool(self._wave.progress["feasible"])
        again = self._cycle % 3 != 0 and feasible
        self._left = int(self._length)
        self._length *= 1.5
        self._temperature = HOT * self._unit * (0.3 if again else 1.0)
        self._ratio = math.exp(math.log(COLD * self._unit / self._temperature) / self._left)
        if again:
            self._begin(self._wave.best.copy())
        elif self._cycle:
            self._begin(self._random() if feasible else self._wave.x.copy())
        self._cycle += 1

    def _begin(self, assignment: Assignment) -> None:
        self._wave.x[:] = assignment
        settle_all(self._web, self._wave)

    def _random(self) -> Assignment:
        return self._rng.integers(0, self._problem.domain_sizes)


def web_of(problem: Problem) -> Web:
    """The problem and what follows in it, as the kernels read them."""
    found, count = derived(problem, following), problem.num_variables
    parents, strides, starts, choices = _definitions(problem, found.definitions)
    arities = np.array([len(each) for each in parents], dtype=np.int64)
    parent = np.concatenate([np.zeros(0, dtype=np.int64), *parents])
    factors = np.flatnonzero(problem.arities > 0)
    entries = ragged_positions(problem.scope_offsets, factors)
    scope = problem.scope_variables[entries]
    return Web(
        sizes=problem.domain_sizes,
        free=found.free[problem.domain_sizes[found.free] > 1],
        follower_start=offsets_of(np.bincount(parent, minlength=count)),
        follower=np.repeat(np.arange(len(parents)), arities)[np.argsort(parent, kind="stable")],
        target=np.array([definition.variable for definition in found.definitions], dtype=np.int64),
        parent_start=offsets_of(arities),
        parent=parent,
        parent_stride=np.concatenate([np.zeros(0, dtype=np.int64), *strides]),
        row_start=starts,
        choice=choices,
        factor_start=offsets_of(np.bincount(scope, minlength=count)),
        factor=np.repeat(np.arange(len(factors)), problem.arities[factors])[np.argsort(scope, kind="stable")],
        scope_start=offsets_of(problem.arities[factors]),
        scope=scope,
        scope_stride=cell_strides(problem)[entries],
        first_cell=problem.pool_offsets[problem.factor_table[factors]],
        pool=problem.pool,
    )


def _definitions(
    problem: Problem, definitions: list[Definition]
) -> tuple[list[Indices], list[Indices], Indices, Indices]:
    """Parents, strides and first rows of the definitions; what rows choose, once for each table."""
    parents, strides, starts = [], [], []
    known: dict[tuple[int, tuple[int, ...], int], int] = {}
    choices, rows = [np.zeros(0, dtype=np.int64)], 0
    for _, factor, place in definitions:
        scope = problem.scope_variables[slice(*problem.scope_offsets[factor : factor + 2])]
        number, shape = int(problem.factor_table[factor]), tuple(problem.domain_sizes[scope].tolist())
        if (number, shape, place) not in known:
            known[number, shape, place] = rows
            table = problem.pool[slice(*problem.pool_offsets[number : number + 2])].reshape(shape)
            choices.append(_choices(table, place))
            rows += len(choices[-1])
        others = np.delete(np.array(shape, dtype=np.int64), place)
        parents.append(np.delete(scope, place))
        strides.append(np.append(np.cumprod(others[:0:-1])[::-1], 1).astype(np.int64))
        starts.append(known[number, shape, place])
    return parents, strides, np.array(starts, dtype=np.int64), np.concatenate(choices)


def _choices(table: NDArray[np.float64], place: int) -> Indices:
    """The value that each row of a table leaves along an axis.

    A row that allows nothing has that of the row before it, or of the first that allows something: a partial sum
    beyond the last value stays there.
    """
    lines = np.moveaxis(table, place, -1).reshape(-1, table.shape[place])
    choice: Indices = lines.argmin(axis=1)
    allowed = np.isfinite(lines[np.arange(len(lines)), choice])
    if allowed.any():
        last = np.maximum.accumulate(np.where(allowed, np.arange(len(lines)), -1))
        choice = choice[np.where(last < 0, int(np.argmax(allowed)), last)]
    return choice


def wave_of(web: Web, seed: int) -> Wave:
    """The state of a search, to be given an assignment (`settle_all`) before use."""
    count, definitions, factors = len(web.sizes), len(web.target), len(web.first_cell)
    return Wave(
        x=np.zeros(count, dtype=np.int64),
        best=np.zeros(count, dtype=np.int64),
        paid=np.zeros(factors),
        changed=np.zeros(count + 2, dtype=np.int64),
        before=np.zeros(count + 2, dtype=np.int64),
        waiting=np.zeros(definitions, dtype=np.int64),
        queued=np.zeros(definitions, dtype=np.uint8),
        touched=np.zeros(factors, dtype=np.int64),
        new=np.zeros(factors),
        stamp=np.full(factors, -1, dtype=np.int64),
        progress=np.zeros((), dtype=PROGRESS),
        random=np.array([seed], dtype=np.uint64),
    )
