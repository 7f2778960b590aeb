"""Large neighbourhood search whose neighbourhoods are as wide as exact elimination affords."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.graph.islands import crossed
from dabp.kernels.elimination.conditioned_minimum import minimise, tables_for
from dabp.kernels.elimination.free_set import Columns, free_set, grow_region, grow_strip, reach
from dabp.problem import Assignment, Problem
from dabp.problem.columns import add_at, first_least
from dabp.problem.incidence import Incidence
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.status import Status


@dataclass(frozen=True, kw_only=True)
class Neighbourhood(Solver):
    """Free a set of variables of bounded elimination width, set it to its joint optimum given the rest, repeat.

    A set grows from a random variable, breadth first, at random or along a path, by every variable with which its
    tables fit a budget of cells; on a sparse problem it frees most variables at once. Each time all variables have been
    freed four times on average, the budget is multiplied by 4. From `challenge_cells` on, sets that free each variable
    three times without a gain are followed by challenges: the values of a patch are randomised in a copy of the
    incumbent and improved by sets around it; then the incumbent adopts each connected component of the differences that
    does not raise its cost. When challenges gain nothing, the budget is multiplied by 4. One iteration is one set.

    Parameters
    ----------
    min_cells
        Cells of the largest table of a set at the start.
    challenge_cells
        Cells of the largest table from which on there are challenges.
    max_cells
        Cells of the largest table of any set.
    """

    checkpoints: ClassVar[bool] = True

    min_cells: int = 2**8
    challenge_cells: int = 2**12
    max_cells: int = 2**16

    def __post_init__(self) -> None:
        if self.min_cells < 1:
            raise ParameterError(f"neighbourhood's min_cells must be at least 1, got {self.min_cells}")
        if not self.min_cells <= self.max_cells <= 2**26:
            raise ParameterError(f"neighbourhood's max_cells must be min_cells to 2^26, got {self.max_cells}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Start from `initial`, or with the cheapest value of every variable by itself."""
        return NeighbourhoodSearch(self, problem, seed, budget, initial)


class NeighbourhoodSearch(Search):
    """The incumbent, and the copy of it that is being improved."""

    def __init__(self, solver: Neighbourhood, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        self._solver, self._problem, self._budget = solver, problem, budget
        self._first_cell = len(problem.pool)
        # A forbidden combination costs more than all others together.
        self._penalty = 1.0 + 2.0 * problem.facts.magnitude
        memory = 2**23 if budget.memory_limit is None else min(2**23, budget.memory_limit // 32)
        self._all_cells = float(max(memory, 2 * solver.max_cells))
        self._columns = self._penalised()
        self._free = free_set(problem.num_variables)
        self._tables = tables_for(self._columns, len(self._free.order))
        self._rng = generator(seed, 11)
        self._random = self._rng.integers(1, 2**63, size=1).astype(np.uint64)
        unary, starts = self._columns.unary, self._columns.unary_start
        values = first_least(unary, starts) if initial is None else np.array(initial, dtype=np.int64)
        self._values = values
        self._best = values.copy()
        self._budget_cells = self._cells = solver.min_cells
        """The cells of a table outside challenges, and now."""
        self._idle = 0
        """Variables freed since the last gain, or before challenges since the budget changed."""
        self._patch = np.zeros(0, dtype=np.int64)
        """The variables around which a copy is improved; none outside challenges."""
        self._challenged = 0
        """Variables in patches since the last gain of a challenge."""
        self._done = 0
        self._cost = self._cost_of(values)
        self._least_gain = 1e-10 * problem.facts.magnitude / max(1, problem.num_factors)

    def step(self) -> Step:
        """Some sets, each an iteration."""
        started, costs, step = working_seconds(), list[float](), Step()
        if not len(self._free.position):
            return Step(best=self._best, best_cost=float(self._problem.cost(self._best)), finished=Status.CONVERGED)
        while self._done != self._budget.max_iterations:
            whole = self._move()
            self._done += 1
            cost = float(self._problem.cost(self._values))
            costs.append(cost)
            if cost < step.best_cost:
                step.best, step.best_cost = self._values.copy(), cost
            if whole:
                step.finished = Status.CONVERGED
                break
            if working_seconds() - started > BLOCK_SECONDS:
                break
        step.costs = np.array(costs)
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Continue from the assignment if it is better than the incumbent."""
        if cost < self._problem.cost(self._best):
            self._values, self._best = np.array(assignment, dtype=np.int64), np.array(assignment, dtype=np.int64)
            self._cost, self._idle, self._patch = self._cost_of(self._values), 0, self._patch[:0]

    def state_dict(self) -> State:
        """Both assignments, the budget of cells, the schedule and the random states."""
        return {
            "values": self._values.copy(),
            "best": self._best.copy(),
            "random": self._random.astype(np.int64),
            "patch": self._patch,
            "cells": self._cells,
            "budget_cells": self._budget_cells,
            "idle": self._idle,
            "challenged": self._challenged,
            "done": self._done,
            "cost": self._cost,
            "rng": self._rng.bit_generator.state,
        }

    def load_state_dict(self, state: State) -> None:
        """Continue from what `state_dict` returned."""
        self._values, self._best = np.array(state["values"], dtype=np.int64), np.array(state["best"], dtype=np.int64)
        self._random = np.array(state["random"]).astype(np.uint64)
        self._cells, self._idle, self._done = int(state["cells"]), int(state["idle"]), int(state["done"])
        self._patch, self._cost = np.array(state["patch"], dtype=np.int64), float(state["cost"])
        self._budget_cells, self._challenged = int(state["budget_cells"]), int(state["challenged"])
        self._rng.bit_generator.state = state["rng"]

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The cost of the current assignment and of the values that were compared last."""
        return {"cost": np.array([self._cost]), "costs": self._tables.cost}

    def _penalised(self) -> Columns:
        """The problem's columns with finite costs, and memory for tables behind its cells."""
        whole, pool = Incidence(self._problem), np.empty(self._first_cell + int(self._all_cells))
        pool[: self._first_cell] = np.where(np.isfinite(whole.pool), whole.pool, self._penalty)
        unary = np.where(np.isfinite(whole.unary), whole.unary, self._penalty)
        return Columns.of(whole)._replace(unary=unary, pool=pool)

    def _cost_of(self, values: Assignment) -> float:
        """The cost with a penalty for each forbidden table cell."""
        columns = self._columns
        cells = columns.table_start.copy()
        add_at(cells, columns.factor, columns.stride * values[columns.variable])
        return float(columns.pool[cells].sum() + columns.unary[columns.unary_start[:-1] + values].sum())

    def _move(self) -> bool:
        """Free a set and minimise over it; whether it contained all variables."""
        count, rng, cells = self._problem.num_variables, self._rng, float(self._cells)
        challenging, kind = len(self._patch) > 0, float(rng.random())
        scope = 2 * len(self._patch) if challenging else count
        seed = int(self._patch[rng.integers(len(self._patch))] if challenging else rng.integers(count))
        if not challenging and kind < 0.3:
            radius = int(rng.integers(1, 7))
            grow_strip(self._columns, self._free, seed, radius, cells, self._all_cells, self._random)
        else:
            grow_region(self._columns, self._free, seed, scope, kind > 0.7, cells, self._all_cells, self._random)
        gain = -minimise(self._columns, self._free, self._tables, self._first_cell, self._values, self._random)
        freed = int(self._free.size[0])
        self._cost -= gain
        self._idle = 0 if self._challenges and gain > self._least_gain else self._idle + freed
        if self._idle >= (3 if self._challenges else 4) * scope:
            self._idle = 0
            self._next_phase()
        return freed == count

    def _next_phase(self) -> None:
        """After a stall: widen the sets, start a challenge, or end one."""
        count = self._problem.num_variables
        if not self._challenges:
            self._widen()
            return
        if len(self._patch):
            before = self._cost_of(self._best)
            self._values = crossed(self._problem, self._best, self._values, ties=True)
            self._cost = self._cost_of(self._values)
            self._challenged = 0 if before - self._cost > self._least_gain else self._challenged + len(self._patch)
            if self._challenged > 10 * count:
                self._challenged, self._patch = 0, self._patch[:0]
                self._widen()
                return
        self._best = self._values.copy()
        self._randomise()
        self._cost = self._cost_of(self._values)
        self._cells = max(16, self._budget_cells // 4 ** int(self._rng.integers(0, 3)))

    @property
    def _challenges(self) -> bool:
        return self._budget_cells >= min(self._solver.challenge_cells, self._solver.max_cells)

    def _widen(self) -> None:
        self._cells = self._budget_cells = min(4 * self._budget_cells, self._solver.max_cells)

    def _randomise(self) -> None:
        """Give variables around a random one random values, from a fiftieth of all to half of them."""
        count, rng = self._problem.num_variables, self._rng
        size = int(np.ceil(count * rng.uniform(0.02**0.5, 0.5**0.5) ** 2))
        reached = reach(self._columns, self._free, int(rng.integers(count)), size, self._random)
        self._patch = self._free.queue[: min(size, reached)].copy()
        values = (rng.random(len(self._patch)) * self._problem.domain_sizes[self._patch]).astype(np.int64)
        self._values[self._patch] = values
