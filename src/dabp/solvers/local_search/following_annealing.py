"""Annealing of the variables that others follow from: sums and counts stated through partial sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.graph.following import Definition, Following, following
from dabp.kernels.local_search.following_moves import BEST, FEASIBLE, WEIGHT, Wave, Web, follow, settle_all, try_moves
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, cell_strides, offsets_of, ragged_positions
from dabp.problem.facts import derived
from dabp.problem.randomness import generator
from dabp.solvers.base import Budget, Search, Solver, Step
from dabp.solvers.status import Status

SAMPLE = 500
"""Moves from whose changes of cost temperatures are found."""

HOT, COLD = 0.5, 0.01
"""The first and the last temperature of a cycle, as parts of the median change of cost."""

REHEATED = 0.3
"""Where cycles begin that start from the best answer, as a part of where others do; two of three do so."""

FIRST_CYCLE, CYCLE_GROWTH = 200, 1.5
"""Moves of the first cycle for each free variable, and how much longer each is than the one before."""

ITERATION_MOVES = 10
"""Moves of an iteration for each free variable."""

FEWEST_MOVES = 1_000
"""Moves of an iteration at least."""

MOST_MOVES = 100_000
"""Moves of an iteration at most: more would take much longer than a block."""

PATIENCE, WEIGHT_GROWTH, LIGHTEST, HEAVIEST, WANDERING = 10, 1.2, 0.05, 20.0, 1e4
"""Moves in a row for each free variable, with violations or without, after which these weigh more or less; by how much;
between which multiples of the median change of cost; and by how much finite costs weigh less then at most."""


def followed(problem: Problem) -> Following:
    """What follows from what, found once for a problem."""
    return derived(problem, following)


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
        self._web = _web(problem, followed(problem))
        self._wave = _wave(problem, self._web, int(self._rng.integers(2**63)))
        self._told = np.inf
        self._cycle, self._left, self._length = 0, 0, float(FIRST_CYCLE * max(1, len(self._web.free)))
        self._temperature, self._ratio = 1.0, 1.0
        self._moves = min(max(FEWEST_MOVES, ITERATION_MOVES * len(self._web.free)), MOST_MOVES)
        self._begin(self._random() if initial is None else initial)
        changes = np.zeros(SAMPLE)
        if len(self._web.free):
            try_moves(self._web, self._wave, changes)
        rises = np.abs(changes[changes != 0.0])
        self._unit = float(np.median(rises)) if len(rises) else 1.0
        self._wave.costs[WEIGHT] = self._unit

    def step(self) -> Step:
        """One iteration, at most to the end of the cycle."""
        if not len(self._web.free):
            return self._only_one()
        if self._left == 0:
            self._next_cycle()
        count = min(self._left, self._moves)
        patience = PATIENCE * len(self._web.free)
        heaviest = HEAVIEST * self._unit
        follow(self._web, self._wave, count, self._temperature, self._ratio, patience, WEIGHT_GROWTH, heaviest)
        self._left -= count
        self._temperature *= self._ratio**count
        weight = float(self._wave.costs[WEIGHT])
        self._wave.costs[WEIGHT] = min(max(weight, LIGHTEST * self._unit), WANDERING * heaviest)
        return self._report()

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Take a better answer: cycles that begin at the best do so at it."""
        if cost < self._told:
            self._told = cost
            self._wave.best[:] = assignment
            self._wave.tally[FEASIBLE], self._wave.costs[BEST] = 1, cost

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The cost, that of the best answer and the weight of violations."""
        return {"costs": self._wave.costs}

    def _only_one(self) -> Step:
        """The assignment that follows where no variable is free."""
        step = self._report()
        step.finished = Status.CONVERGED
        return step

    def _report(self) -> Step:
        if not self._wave.tally[FEASIBLE] or self._wave.costs[BEST] >= self._told:
            return Step(np.array([np.inf]))
        best = self._wave.best.copy()
        cost = float(self._problem.cost(best))
        better, self._told = cost < self._told, min(self._told, float(self._wave.costs[BEST]), cost)
        return Step(np.array([cost]), best if better else None, cost if better else np.inf)

    def _next_cycle(self) -> None:
        """A longer one, from the best, from a random assignment, or, without an answer, from where this one ended."""
        again = self._cycle % 3 != 0 and bool(self._wave.tally[FEASIBLE])
        self._left = int(self._length)
        self._length *= CYCLE_GROWTH
        hot = HOT * self._unit * (REHEATED if again else 1.0)
        self._temperature = hot
        self._ratio = math.exp(math.log(COLD * self._unit / hot) / self._left)
        if again:
            self._begin(self._wave.best.copy())
        elif self._cycle:
            self._begin(self._random() if self._wave.tally[FEASIBLE] else self._wave.x.copy())
        self._cycle += 1

    def _begin(self, assignment: Assignment) -> None:
        self._wave.x[:] = assignment
        settle_all(self._web, self._wave)

    def _random(self) -> Assignment:
        return self._rng.integers(0, self._problem.domain_sizes)


def _web(problem: Problem, found: Following) -> Web:
    """The problem as the kernels read it."""
    count, definitions = problem.num_variables, found.definitions
    parents, strides, starts, choices, paid = _definitions(problem, definitions)
    arities = np.array([len(each) for each in parents], dtype=np.int64)
    parent = np.concatenate([np.zeros(0, dtype=np.int64), *parents])
    follower = np.repeat(np.arange(len(definitions)), arities)[np.argsort(parent, kind="stable")]
    others = problem.arities > 0
    others[[definition.factor for definition in definitions]] = False
    factors = np.flatnonzero(others)
    entries = ragged_positions(problem.scope_offsets, factors)
    scope = problem.scope_variables[entries]
    owner = np.repeat(np.arange(len(factors)), problem.arities[factors])
    return Web(
        sizes=problem.domain_sizes,
        free=found.free[problem.domain_sizes[found.free] > 1],
        follower_start=offsets_of(np.bincount(parent, minlength=count)),
        follower=follower,
        target=np.array([definition.variable for definition in definitions], dtype=np.int64),
        parent_start=offsets_of(arities),
        parent=parent,
        parent_stride=np.concatenate([np.zeros(0, dtype=np.int64), *strides]),
        row_start=starts,
        choice=choices,
        row_cost=paid,
        factor_start=offsets_of(np.bincount(scope, minlength=count)),
        factor=owner[np.argsort(scope, kind="stable")],
        scope_start=offsets_of(problem.arities[factors]),
        scope=scope,
        scope_stride=cell_strides(problem)[entries],
        first_cell=problem.pool_offsets[problem.factor_table[factors]],
        pool=problem.pool,
    )


def _definitions(
    problem: Problem, definitions: list[Definition]
) -> tuple[list[Indices], list[Indices], Indices, Indices, NDArray[np.float64]]:
    """Parents, strides and first rows of the definitions; what rows choose and cost, once for each table."""
    parents, strides, starts = [], [], []
    known: dict[tuple[int, tuple[int, ...], int], int] = {}
    choices, costs = [np.zeros(0, dtype=np.int64)], [np.zeros(0)]
    rows = 0
    for _, factor, place in definitions:
        scope = problem.scope_variables[slice(*problem.scope_offsets[factor : factor + 2])]
        number, shape = int(problem.factor_table[factor]), tuple(problem.domain_sizes[scope].tolist())
        if (number, shape, place) not in known:
            known[number, shape, place] = rows
            choice, cost = _rows(problem.pool[slice(*problem.pool_offsets[number : number + 2])].reshape(shape), place)
            choices.append(choice)
            costs.append(cost)
            rows += len(choice)
        others = np.delete(np.array(shape, dtype=np.int64), place)
        parents.append(np.delete(scope, place))
        strides.append(np.append(np.cumprod(others[:0:-1])[::-1], 1).astype(np.int64))
        starts.append(known[number, shape, place])
    return parents, strides, np.array(starts, dtype=np.int64), np.concatenate(choices), np.concatenate(costs)


def _rows(table: NDArray[np.float64], place: int) -> tuple[Indices, NDArray[np.float64]]:
    """What each row of a table chooses along an axis, and what that costs.

    A row that allows nothing costs inf and chooses as the one before it does, or the first that allows something: a
    partial sum beyond the last that there is stays there.
    """
    lines = np.moveaxis(table, place, -1).reshape(-1, table.shape[place])
    choice = lines.argmin(axis=1)
    cost = lines[np.arange(len(lines)), choice]
    allowed = np.isfinite(cost)
    if allowed.any():
        last = np.maximum.accumulate(np.where(allowed, np.arange(len(lines)), -1))
        choice = choice[np.where(last < 0, int(np.argmax(allowed)), last)]
    return choice, cost


def _wave(problem: Problem, web: Web, seed: int) -> Wave:
    count, definitions, factors = problem.num_variables, len(web.target), len(web.first_cell)
    return Wave(
        x=np.zeros(count, dtype=np.int64),
        best=np.zeros(count, dtype=np.int64),
        row_paid=np.zeros(definitions),
        paid=np.zeros(factors),
        changed=np.zeros(count + 2, dtype=np.int64),
        before=np.zeros(count + 2, dtype=np.int64),
        waiting=np.zeros(definitions, dtype=np.int64),
        queued=np.zeros(definitions, dtype=np.uint8),
        looked=np.zeros(definitions, dtype=np.int64),
        row_new=np.zeros(definitions),
        touched=np.zeros(factors, dtype=np.int64),
        new=np.zeros(factors),
        stamp=np.full(factors, -1, dtype=np.int64),
        tally=np.zeros(8, dtype=np.int64),
        costs=np.zeros(3),
        change=np.zeros(2),
        random=np.array([seed], dtype=np.uint64),
    )
