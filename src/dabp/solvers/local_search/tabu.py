"""Tabu search with restarts from perturbed and combined incumbents."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.kernels.local_search.search_arrays import NOTHING
from dabp.kernels.local_search.tabu_moves import Rules
from dabp.problem import Assignment, Problem
from dabp.solvers.base import Budget, Search, Solver, State
from dabp.solvers.local_search.local_search import LocalSearch
from dabp.solvers.stopped import ask

MOST = 10_000_000
"""The longest mean tenure that may be given: each tabu move takes 48 bytes."""

LARGE = 500
"""Variables from which restarts are from the incumbent only: a start from scratch hardly catches up."""

LARGE_BINARY = 5_000
"""The same where all have two values: a start takes a tenth of a second there."""


@dataclass(frozen=True, kw_only=True)
class Tabu(Solver):
    """Tabu search: always the best move of all, but never back for a while.

    A step gives one variable the value that lowers the cost most (or raises it least) among all values of all
    variables that are not tabu; the value it leaves is then tabu for tenure/2 + U{0 … tenure − 1} steps, unless
    returning gives a new best (Glover 1989; Galinier & Hao 1999 for colouring). One iteration is as many moves as
    there are variables, 10,000 at most. After `patience` iterations without a better cost the search restarts: from
    a perturbed incumbent, from a mixture of two of the best found, or at random (on large problems only from the
    incumbent; with two values each mostly from mixtures). The tenure is drawn anew each time, mostly the one that has
    done best. Violations are penalised, and weigh more each time the search is stuck with them; half as much with each
    restart, but no less than at first, once an answer without any is known: heavy weights leave finite costs no say.

    Good on dense problems of up to some hundred variables; it proves nothing.

    Parameters
    ----------
    tenure
        Mean tenure in moves; by default learned from the restarts.
    patience
        Iterations without improvement before a restart; by default 5 per variable, 50,000 moves at most,
        20 at least.
    elites
        How many of the best local optima are kept for mixtures.
    """

    checkpoints: ClassVar[bool] = True

    tenure: int | None = None
    patience: int | None = None
    elites: int = 8

    def __post_init__(self) -> None:
        if self.tenure is not None and not 1 <= self.tenure <= MOST:
            raise ParameterError(f"tenure must be 1 to {MOST} moves, got {self.tenure}")
        if self.patience is not None and self.patience < 1:
            raise ParameterError(f"patience must be at least 1 iteration, got {self.patience}")
        if self.elites < 1:
            raise ParameterError(f"elites must be at least 1, got {self.elites}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin from `initial` or a random assignment."""
        return _TabuSearch(self, problem, seed, budget, initial)


class _TabuSearch(LocalSearch):
    def __init__(self, solver: Tabu, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        self._solver = solver
        self._tenures = _tenures(problem) if solver.tenure is None else [solver.tenure]
        self._scores: list[float | None] = [None] * len(self._tenures)
        self._arm = int(np.argmin(np.abs(np.array(self._tenures) - 0.3 * problem.num_variables)))
        count = max(problem.num_variables, 1)
        patience = max(20, min(50_000 // count, 5 * count))
        self._patience = patience if solver.patience is None else solver.patience
        self._lowest, self._stalled = NOTHING, 0
        self._elites = np.zeros((0, problem.num_variables), dtype=np.int64)
        self._elite_costs = np.zeros(0, dtype=np.int64)
        self._moves: Any = None
        super().__init__(problem, seed, budget, initial)

    def begin(self, assignment: Assignment) -> None:
        """Start anew from an assignment, nothing tabu; `state.best` is then the best of this start."""
        if self._moves is None:
            self._moves = self.local.moves(max(self._tenures))
            ask(self.budget.guard)
        self.state.tally["feasible"] = 0
        super().begin(assignment)
        self.local.open_all(self.state, self._moves)
        self._lowest, self._stalled = NOTHING, 0

    def run(self, lowest: NDArray[np.int64]) -> int:
        """Move on; restart after `patience` iterations without a better cost."""
        count = min(len(lowest), self._patience - self._stalled)
        tenure = self._tenures[self._arm]
        moves = min(self.problem.num_variables, 10_000)  # few enough to answer limits promptly
        rules = Rules(moves, (tenure + 1) // 2, tenure, 10, self.local.units.first_weight)
        self.local.tabu(self.state, self._moves, rules, lowest[:count])
        falls = np.flatnonzero(np.minimum.accumulate(np.append(self._lowest, lowest[:count]))[:-1] > lowest[:count])
        self._stalled = self._stalled + count if len(falls) == 0 else count - 1 - int(falls[-1])
        self._lowest = min(self._lowest, int(lowest[:count].min()))
        if self._stalled >= self._patience:
            self._restart()
        return count

    # ---- restarts ------------------------------------------------------------------------------------

    def _restart(self) -> None:
        """Learn from this start, and choose the next one and its tenure."""
        self.collect()
        if self.feasible:
            self._keep_elite()
            score = float(self.state.tally["best"])
            old = self._scores[self._arm]
            self._scores[self._arm] = score if old is None else old + 0.3 * (score - old)
        if self.local.costs is not None:
            if self.incumbent is not None:
                self.local.forgive(self.state)
            self.local.relax(self.state)
        known = [k for k, score in enumerate(self._scores) if score is not None]
        if known and self.rng.random() < 0.6:
            self._arm = min(known, key=lambda k: self._scores[k] or 0.0)
        else:
            self._arm = int(self.rng.integers(len(self._tenures)))
        self.begin(self._next_start())

    def _keep_elite(self) -> None:
        best, cost = self.local.best(self.state), self.state.tally["best"]
        if (self._elites == best).all(axis=1).any():
            return
        costs = np.append(self._elite_costs, cost)
        order = np.argsort(costs, kind="stable")[: self._solver.elites]
        self._elites, self._elite_costs = np.vstack([self._elites, best])[order], costs[order]

    def _next_start(self) -> Assignment:
        """A random assignment, a mixture of two elites, or an incumbent with some variables changed."""
        random: Assignment = self.local.random_assignment(self.rng)
        count = self.problem.num_variables
        binary = self.local.costs is None
        kind = self.rng.random() if count < (LARGE_BINARY if binary else LARGE) else 1.0
        if binary and kind < 0.8:
            return self._mixture() if len(self._elites) == self._solver.elites else random
        if self.incumbent is None or kind < 0.2:
            return random
        if kind < 0.6 and len(self._elites) > 1:
            return self._mixture()
        changed = math.exp(self.rng.uniform(math.log(min(3 / count, 0.5)), math.log(0.5)))
        return np.where(self.rng.random(count) < changed, random, self.incumbent)

    def _mixture(self) -> Assignment:
        """Each value from one of two elites; of two that differ in most spins one is flipped if that costs nothing."""
        first, second = self._elites[self.rng.choice(len(self._elites), 2, replace=len(self._elites) < 2)]
        if 2 * np.count_nonzero(first != second) > len(first) and (self.problem.domain_sizes == 2).all():
            flipped = 1 - second
            second = flipped if self.problem.cost(flipped) == self.problem.cost(second) else second
        mixture: Assignment = np.where(self.rng.random(len(first)) < 0.5, first, second)
        return mixture

    # ---- state ---------------------------------------------------------------------------------------

    attributes = (*LocalSearch.attributes, "_scores", "_arm", "_lowest", "_stalled", "_elites", "_elite_costs")

    def state_dict(self) -> State:
        """Also what is tabu until when."""
        if self._moves is None:
            return super().state_dict()
        clock = {name: int(self._moves.clock[name]) for name in ("step", "minima")}
        return {**super().state_dict(), **clock, "until": self._moves.until.copy()}

    def load_state_dict(self, state: State) -> None:
        """Continue in the middle of a start."""
        super().load_state_dict(state)
        if self._moves is not None:
            self.local.resume(self.state, self._moves, state["until"], state["step"], state["minima"])
        if not (0 <= self._arm < len(self._tenures) == len(self._scores) and 0 <= self._stalled < self._patience):
            raise ValueError("its tenures are not those of this problem")
        if len(self._elites) != len(self._elite_costs):
            raise ValueError("its elites and their costs are not as many")


def _tenures(problem: Problem) -> list[int]:
    """Mean tenures to try: doubling, up to the number of variables; short ones for tiny problems only."""
    if problem.num_variables < 20:
        return [1, 2, 5, 10]
    longest = min(problem.num_variables, 20_000)
    return [5 * 2**k for k in range(13) if 5 * 2**k <= longest]
