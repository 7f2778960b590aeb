"""Large neighbourhood search whose neighbourhoods are forests, solved exactly."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.problem import Assignment, Problem
from dabp.problem.randomness import generator
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, State, Step
from dabp.solvers.forests import Forests
from dabp.solvers.status import Status


@dataclass(frozen=True, kw_only=True)
class ForestLNS(Solver):
    """Free a random induced forest of variables, set it to its joint optimum given the rest, repeat.

    A move (one iteration) changes up to half of the variables of a sparse problem at once, at the price of one min-sum
    sweep. The first round of moves only descends; each later one starts from the best assignment so far and cools from
    a random temperature to zero (perturbed costs, then exact ones). Strong on sparse problems and to improve what other
    solvers found; on dense ones a forest is small.

    Reference: F. Hamze, N. de Freitas, *From fields to trees*, UAI 2004; G. Papandreou, A. Yuille,
    *Perturb-and-MAP random fields*, ICCV 2011.

    Parameters
    ----------
    moves
        Moves of a round; half of them cool, half descend.
    heat
        The highest temperature at the start of a round, in units of the median range of a factor's costs.
    """

    checkpoints: ClassVar[bool] = True

    moves: int = 40
    heat: float = 1.0

    def __post_init__(self) -> None:
        if self.moves < 2:
            raise ParameterError(f"forest-lns: moves must be at least 2, got {self.moves}")
        if not 0 <= self.heat < math.inf:
            raise ParameterError(f"forest-lns: heat must be a finite number of at least 0, got {self.heat}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial`, or with the first value of every variable."""
        return ForestLnsSearch(self, problem, seed, budget, initial)


class ForestLnsSearch(Search):
    """The best assignment so far, and the one that is being changed."""

    def __init__(self, solver: ForestLNS, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        self._solver, self._problem = solver, problem
        self._forests = Forests(problem)
        self._scale = _median_range(problem)
        self._rng = generator(seed, 7)
        self._state = self._rng.integers(1, 2**63, size=1).astype(np.uint64)
        if initial is None:
            initial = np.zeros(problem.num_variables, dtype=np.int64)
        self._values = np.array(initial, dtype=np.int64)
        self._best = self._values.copy()
        self._best_penalised = self._forests.cost(self._best)
        self._round, self._heat = 0, 0.0
        self._limit, self._done = budget.max_iterations, 0

    def step(self) -> Step:
        """Some moves, each an iteration."""
        started = working_seconds()
        costs: list[float] = []
        step = Step()
        while self._limit is None or self._done < self._limit:
            self._move()
            cost = self._forests.cost(self._values)
            if cost < self._best_penalised:
                self._best, self._best_penalised = self._values.copy(), cost
            exact = float(self._problem.cost(self._values))
            costs.append(exact)
            if exact < step.best_cost:
                step.best, step.best_cost = self._values.copy(), exact
            self._done += 1
            if working_seconds() - started > BLOCK_SECONDS:
                break
        step.costs = np.array(costs)
        if not costs:
            step.finished = Status.LIMIT
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Go on from there if it is better."""
        if cost < self._problem.cost(self._best):
            self._best, self._values = (np.array(assignment, dtype=np.int64) for _ in range(2))
            self._best_penalised = self._forests.cost(self._best)
            self._round = 0

    def state_dict(self) -> State:
        """Both assignments, the schedule, the random states."""
        return {
            "values": self._values.copy(),
            "best": self._best.copy(),
            "state": self._state.astype(np.int64),
            "round": self._round,
            "heat": self._heat,
            "done": self._done,
            "rng": self._rng.bit_generator.state,
        }

    def load_state_dict(self, state: State) -> None:
        """Continue from what `state_dict` returned."""
        self._best = np.array(state["best"], dtype=np.int64)
        self._best_penalised = self._forests.cost(self._best)
        self._values = np.array(state["values"], dtype=np.int64)
        self._state = np.array(state["state"]).astype(np.uint64)
        self._round, self._heat, self._done = int(state["round"]), float(state["heat"]), int(state["done"])
        self._rng.bit_generator.state = state["rng"]

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """Costs of the last move's values, the penalties, and the temperature."""
        return {
            "costs": self._forests.last_costs,
            "penalised costs": self._forests.columns.pool,
            "heat": np.array([self._heat]),
        }

    def _move(self) -> None:
        """One move at the present temperature of the round; the first round only descends."""
        moves = self._solver.moves
        position = self._round % moves
        if position == 0 and self._round:
            self._values[:] = self._best
            self._heat = self._solver.heat * self._scale * 10.0 ** (-2.0 * self._rng.random())
        warm = moves // 2
        temperature = self._heat * (1.0 - position / warm) if position < warm else 0.0
        self._forests.move(self._values, self._state, temperature)
        self._round += 1


def _median_range(problem: Problem) -> float:
    """The median positive range of a table's finite costs, 1 if there is none."""
    finite = np.isfinite(problem.pool)
    high = problem.facts.per_table(np.maximum, np.where(finite, problem.pool, -np.inf))
    ranges = high - problem.facts.per_table(np.minimum)
    ranges = ranges[np.isfinite(ranges) & (ranges > 0)]
    return float(np.median(ranges)) if len(ranges) else 1.0
