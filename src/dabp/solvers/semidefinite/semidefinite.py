"""The semidefinite bound: spins become unit vectors; what their optimum proves is checked by a factorisation."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.errors import ParameterError
from dabp.kernels.semidefinite.mixing import mix, sides
from dabp.problem import Assignment, Problem
from dabp.solvers.base import BLOCK_SECONDS, Budget, Search, Solver, Step
from dabp.solvers.semidefinite.proof import Proof
from dabp.solvers.semidefinite.spins import spins_of
from dabp.solvers.status import Status
from dabp.solvers.stopped import NotPrepared, Stopped, ask

SWEEPS = 5
"""Sweeps of an iteration."""

FIRST_LOSS = 0.5
"""The part of the relaxation's size that the first proof may lose."""


@dataclass(frozen=True, kw_only=True)
class Semidefinite(Solver):
    """The semidefinite (Goemans-Williamson) bound on quadratic functions of two-valued variables.

    Spins become unit vectors, and coordinate descent minimises the function over them (the mixing method). The lengths
    y_i of the pulls g_i = Σ_j J_ij v_j are then nearly an optimal dual solution: if J + diag(y) + δI has no negative
    eigenvalue, which a Cholesky factorisation proves with rounding included, no assignment costs less than
    −½ Σ_i (y_i + δ). δ falls as the descent converges. Assignments are read off by random hyperplanes. Factors with
    variables of more values, or of three variables and more, count with their least cost. An iteration is five sweeps.

    References: M. X. Goemans, D. P. Williamson, *Improved approximation algorithms for maximum cut and satisfiability
    problems using semidefinite programming*, JACM 1995; P.-W. Wang, W.-C. Chang, J. Z. Kolter, *The mixing method*,
    2017.

    Parameters
    ----------
    tolerance
        The search ends when the bound is proved to this part of the relaxation's size.
    """

    presolves: ClassVar[bool] = True
    proves: ClassVar[bool] = True

    tolerance: float = 1e-4

    def __post_init__(self) -> None:
        if not 0 < self.tolerance < 1:
            raise ParameterError(f"semidefinite's tolerance is a number between 0 and 1, not {self.tolerance}")

    def start(self, problem: Problem, *, seed: int, budget: Budget, initial: Assignment | None = None) -> Search:
        """Begin with random vectors; `initial` changes nothing."""
        try:
            return SemidefiniteSearch(self, problem, seed, budget)
        except Stopped as reason:
            return NotPrepared("semidefinite", reason)


class SemidefiniteSearch(Search):
    """The vectors, and the bound so far."""

    def __init__(self, solver: Semidefinite, problem: Problem, seed: int, budget: Budget):
        self._solver, self._problem, self._most = solver, problem, budget.max_iterations
        ask(budget.guard)
        self._spins = spins_of(problem)
        ask(budget.guard)
        matrix = self._spins.matrix
        self._proof = Proof(matrix)
        count = len(matrix.offsets) - 1
        rank = min(count, math.ceil(math.sqrt(2 * count)) + 1)
        rank = max(8, -(-rank // 8) * 8)
        self._rng = np.random.default_rng(seed)
        vectors = self._rng.standard_normal((count, rank))
        self._vectors: NDArray[np.float64] = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        self._norms, self._pull = np.zeros(count), np.zeros(rank)
        self._sweep_work = 2.0 * len(matrix.target) * rank
        self._since = 0.0
        """Operations of sweeps since the last factorisation."""
        self._loss, self._done = FIRST_LOSS, 0
        self._best_cost, self.bound = np.inf, -np.inf

    def step(self) -> Step:
        """Some sweeps, and a proof where they have taken as long as it does."""
        until, step, costs = working_seconds() + BLOCK_SECONDS, Step(), list[float]()
        while not costs or (working_seconds() < until and self._done != self._most and step.finished is None):
            mix(self._spins.matrix, self._vectors, self._norms, self._pull, SWEEPS)
            self._since += SWEEPS * self._sweep_work
            self._done += 1
            values = self._rounded()
            costs.append(float(self._problem.cost(values)))
            if costs[-1] < self._best_cost:
                step.best, step.best_cost = values, costs[-1]
                self._best_cost = costs[-1]
            if self._since >= self._proof.work:
                step.finished = self._proved()
        step.costs = np.array(costs)
        step.bound = self.bound if math.isfinite(self.bound) else None
        if step.finished is Status.LIMIT:
            step.notes = ("semidefinite: the matrix is too large for a proof",)
        return step

    def numbers(self) -> Mapping[str, NDArray[np.floating]]:
        """The vectors and the lengths of their pulls."""
        return {"vectors": self._vectors, "norms": self._norms}

    def _rounded(self) -> Assignment:
        """Each spin by the side of a random hyperplane that its vector is on."""
        values = np.zeros(self._problem.num_variables + 1, dtype=np.int64)
        values[-1] = 1
        side = np.zeros(len(self._vectors), dtype=bool)
        sides(self._vectors, self._rng.standard_normal(self._vectors.shape[1]), side)
        values[self._spins.variable] = side
        if not values[-1]:
            values[self._spins.variable] = ~side
        return np.minimum(values[:-1], self._problem.domain_sizes - 1)

    def _proved(self) -> Status | None:
        """Raise the bound as far as factorisations succeed; how the search ends."""
        self._since = 0.0
        if not self._proof.possible:
            return Status.LIMIT
        count, size = len(self._norms), math.fsum(self._norms)
        while self._loss >= self._solver.tolerance:
            diagonal = self._norms + max(self._loss * size / max(count, 1), 1e-12)
            least = self._proof.least(diagonal)
            if not math.isfinite(least):
                return None
            self._raise(-0.5 * (math.fsum(diagonal) - count * least))
            if self._best_cost - self.bound <= self._problem.facts.rounding(self.bound):
                return Status.OPTIMAL
            self._loss *= 0.25
        return Status.CONVERGED

    def _raise(self, least: float) -> None:
        """Take a proved lower bound on the quadratic form."""
        total = self._spins.offset + least
        total -= self._spins.error + 1e-15 * (abs(total) + abs(least) + abs(self._spins.offset))
        facts = self._problem.facts
        if math.isfinite(total):
            self.bound = max(self.bound, float(math.ceil(total)) if facts.integral else total - facts.rounding_error)
