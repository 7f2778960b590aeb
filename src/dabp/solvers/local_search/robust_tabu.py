"""Robust tabu search on quadratic assignments, from combinations of the best permutations found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.kernels.local_search.robust_tabu import CLOCK, Exchanging, restart, robust_tabu
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cheapest_values
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.local_costs.products import Products, products_of
from dabp.solvers.status import Status
from dabp.solvers.stopped import NotPrepared, Stopped, ask

NARROW = 2**27
"""Costs of exchanges up to this fit 32 bits with all that they are computed from."""


@dataclass(frozen=True, kw_only=True)
class RobustTabu(Solver):
    """Robust tabu search for quadratic assignment: permutations whose pairs cost a flow times a distance.

    A step exchanges the values of two variables, the best of all pairs that are not tabu; what every exchange costs is
    kept up to date in constant time each. After `length` steps for each variable the search goes on from a new
    permutation: one that mixes two of the best found, keeping what they agree on. Products are found in the tables;
    other problems end at once. An iteration is as many steps as there are variables.

    References: É. Taillard, *Robust taboo search for the quadratic assignment problem*, Parallel Computing 1991;
    U. Benlic, J.-K. Hao, *Memetic search for the quadratic assignment problem*, Expert Systems 2015.

    Parameters
    ----------
    length
        Iterations of a search before it restarts, and more as long as it improves.
    elites
        Permutations that are kept.
    """

    presolves: ClassVar[bool] = True

    length: int = 25
    elites: int = 8

    def __post_init__(self) -> None:
        if self.length < 1 or self.elites < 2:
            raise ParameterError("robust-tabu's length is at least 1, its elites at least 2")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin at `initial`, or at random."""
        try:
            return RobustTabuSearch(self, problem, seed, budget, initial)
        except Stopped as reason:
            return NotPrepared("robust-tabu", reason)


class RobustTabuSearch(Search):
    """The state of the kernel, and the best permutations."""

    def __init__(self, solver: RobustTabu, problem: Problem, seed: int, budget: Budget, initial: Assignment | None):
        self._solver, self._problem, self._most = solver, problem, budget.max_iterations
        ask(budget.guard)
        self._products = products_of(problem)
        self._rng = np.random.default_rng(seed)
        self._done = self._begun = 0
        self._best_cost = np.inf
        self._elites: list[tuple[int, NDArray[np.int64]]] = []
        """Costs in units and permutations, the best first."""
        self._start = np.array(cheapest_values(problem) if initial is None else initial, dtype=np.int64)
        if self._products is not None:
            self._state = _state(self._products, seed)
            count = problem.num_variables
            given = np.array_equal(np.sort(self._start), np.arange(count))
            self._restart(self._start if given else self._rng.permutation(count))
            clock = self._state.clock
            self._offset = float(problem.cost(self._state.values)) - 0.5 * float(clock["cost"])

    def step(self) -> Step:
        """About 20 ms of exchanges, with the cost of each."""
        if self._products is None:
            cost = float(self._problem.cost(self._start))
            note = "robust-tabu: the costs are no products of flows and distances of a permutation"
            best = self._start if np.isfinite(cost) else None
            return Step(np.array([cost]), best, cost, finished=Status.CONVERGED, notes=(note,))
        until, costs, step = working_seconds() + BLOCK_SECONDS, list[float](), Step()
        state, count = self._state, self._problem.num_variables
        while not costs or (working_seconds() < until and self._done != self._most):
            robust_tabu(state, count, max(1, int(0.9 * count)), max(1, int(0.2 * count) + 2))
            self._done += 1
            costs.append(0.5 * float(state.clock["best"]) + self._offset)
            if costs[-1] < self._best_cost:
                self._best_cost, step.best = costs[-1], state.best.copy()
            last = max(self._begun, int(state.clock["improved"]) // count)
            if int(state.clock["step"]) // count - last >= self._solver.length:
                self._keep(int(state.clock["best"]), state.best.copy())
                self._restart(self._mixed())
        if step.best is not None:
            step.best_cost = float(self._problem.cost(step.best))
        step.costs = np.array(costs)
        return step

    def offer(self, assignment: Assignment, cost: float) -> None:
        """Keep it among the best if it is."""
        if self._products is not None and cost < self._best_cost:
            self._keep(round(2.0 * (cost - self._offset)), np.array(assignment, dtype=np.int64))

    def _restart(self, values: NDArray[np.int64]) -> None:
        state = self._state
        state.values[:] = values
        state.clock["best"] = np.iinfo(np.int64).max
        restart(state)
        self._begun = int(state.clock["step"]) // len(values)

    def _keep(self, cost: int, values: NDArray[np.int64]) -> None:
        """Put a permutation among the best, each once."""
        if all(cost != other or (values != known).any() for other, known in self._elites):
            self._elites.append((cost, values))
            self._elites.sort(key=lambda elite: elite[0])
            del self._elites[self._solver.elites :]

    def _mixed(self) -> NDArray[np.int64]:
        """A random permutation until there are enough; then what two agree on, and other values from one of them."""
        rng, count = self._rng, self._problem.num_variables
        if len(self._elites) < self._solver.elites:
            return rng.permutation(count)
        one, two = (self._elites[k][1] for k in rng.choice(len(self._elites), 2, replace=False))
        child = np.full(count, -1, dtype=np.int64)
        child[one == two] = one[one == two]
        taken = np.zeros(count, dtype=bool)
        taken[child[child >= 0]] = True
        for i in rng.permutation(np.flatnonzero(child < 0)).tolist():
            for value in (one[i], two[i]) if rng.random() < 0.5 else (two[i], one[i]):
                if child[i] < 0 and not taken[value]:
                    child[i], taken[value] = value, True
        child[child < 0] = rng.permutation(np.flatnonzero(~taken))
        return child


def _state(products: Products, seed: int) -> Exchanging:
    """A state of the narrowest integers that fit."""
    largest = max(float(np.abs(part).max(initial=0)) for part in (products.own, products.flow, products.distance))
    rows = np.abs(products.flow).sum(axis=2).max(initial=0) * float(np.abs(products.distance).max(initial=0))
    dtype = np.int32 if 16.0 * len(products.flow) * (rows + largest) < NARROW else np.int64
    layers, n = products.flow.shape[:2]
    rows_of = np.zeros((3, n), dtype=dtype)
    return Exchanging(
        flow=products.flow.astype(dtype),
        distance=products.distance.astype(dtype),
        sign=np.where((products.flow == products.flow.transpose(0, 2, 1)).all(axis=(1, 2)), 1, -1).astype(dtype),
        own=products.own.astype(dtype),
        placed=np.zeros((layers, n, n), dtype=dtype),
        change=np.zeros((n, n), dtype=dtype),
        row=rows_of[0],
        until=np.zeros((n, n), dtype=np.int64),
        values=np.arange(n),
        best=np.arange(n),
        alpha=rows_of[1],
        beta=rows_of[2],
        clock=np.zeros((), dtype=CLOCK),
        random=np.array([seed], dtype=np.uint64),
        pad=int(np.iinfo(dtype).max) // 4,
    )
