"""The best answer that the members share, component by component, and the best bound."""

from __future__ import annotations

import math
import threading
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.graph.components import component_labels, factor_components
from dabp.graph.islands import crossed, has_islands
from dabp.problem import Assignment, Problem
from dabp.problem.validation import EXACT
from dabp.solvers.base import State

CLOSE = 0.005
"""Relative difference of cost within which an answer counts as nearly as good as the incumbent."""


LEAST = "the sum of the least costs of all factors"
"""Name of the first bound in notes."""


@dataclass(frozen=True)
class Find:
    """One improvement: the member that made it, the second, and the cost reached."""

    member: str
    time: float
    cost: float


class Incumbent:
    """The best answer and the best bound so far; every method may be called from any thread.

    Components share no factor, so the best assignment is put together from the best of each: a candidate that is worse
    as a whole may still improve some of them. On sparse problems the same holds for the islands on which a candidate
    that is nearly as good differs from the incumbent (`graph.islands`).
    """

    def __init__(self, problem: Problem):
        self._problem = problem
        self._islands = has_islands(problem)
        self._lock = threading.Lock()
        self.assignment: Assignment | None = None
        self.cost = np.inf
        labels, count = component_labels(problem)
        self.labels, self.num_components = labels, count
        """The component of each variable [N], and how many there are."""
        self._factor_component = factor_components(problem, labels) if count > 1 else np.zeros(0, dtype=np.int64)
        self.component_costs: NDArray[np.float64] = np.full(count, np.inf)
        self.bound = -np.inf
        self.finds: list[Find] = []
        self.bound_by = ""

    def offer(self, assignment: Assignment, member: str, time: float, cost: float | None = None) -> float:
        """Take a candidate; returns by how much the incumbent improved (inf for the first feasible one).

        `cost` is what `Problem.cost` gives, if that is known.
        """
        assignment, cost = self._crossed(assignment, cost)
        if self.num_components <= 1:
            cost = float(self._problem.cost(assignment)) if cost is None else cost
            with self._lock:
                return self._replace(np.array(assignment), cost, member, time) if cost < self.cost else 0.0
        costs = self._costs_by_component(assignment)
        with self._lock:
            better = costs < self.component_costs
            if not better.any():
                return 0.0
            values = np.array(assignment) if self.assignment is None else self.assignment.copy()
            change = better[self.labels]
            values[change] = assignment[change]
            self.component_costs = np.minimum(costs, self.component_costs)
            cost = float(self._problem.cost(values))
            if self.assignment is not None and cost >= self.cost and np.isfinite(self.cost):
                return 0.0  # within rounding
            return self._replace(values, cost, member, time)

    def _crossed(self, assignment: Assignment, cost: float | None) -> tuple[Assignment, float | None]:
        """A candidate, or the best of it and the incumbent island by island where that may pay; its cost if known."""
        best, known = self.best() if self._islands else (None, np.inf)
        if best is None:
            return assignment, cost
        cost = float(self._problem.cost(assignment)) if cost is None else cost
        if cost - known > CLOSE * abs(known):
            return assignment, cost
        return crossed(self._problem, best, np.asarray(assignment, dtype=np.int64)), None

    def raise_bound(self, bound: float, member: str) -> float:
        """Take a lower bound on the whole problem; returns by how much the best one rose (inf for the first)."""
        with self._lock:
            gain = max(0.0, bound - self.bound)
            if gain > 0:
                self.bound, self.bound_by = bound, member
            return gain

    def best(self) -> tuple[Assignment | None, float]:
        """The best assignment and its cost (None and inf without a feasible one)."""
        with self._lock:
            return (self.assignment, self.cost) if np.isfinite(self.cost) else (None, np.inf)

    @property
    def proved(self) -> bool:
        """Whether the bound has reached the cost."""
        return bool(np.isfinite(self.cost)) and self.bound >= self.cost - self._problem.facts.rounding(self.cost)

    def state_dict(self) -> State:
        """What a checkpoint keeps: the best assignment, the bound, and the names of the members that found them."""
        with self._lock:
            state: State = {"bound": self.bound, "bound_by": self.bound_by}
            if self.assignment is not None:
                state["assignment"] = self.assignment.copy()
            state["finds"] = [[find.member, find.cost] for find in self.finds]
        return state

    def load_state_dict(self, state: State) -> None:
        """Continue from `state_dict`, unless more is known already; the state of another kind of search is ignored."""
        if "bound" not in state:
            return
        if "assignment" in state and self.offer(state["assignment"], "", 0.0) > 0:
            self.finds = [Find(member, 0.0, cost) for member, cost in state["finds"]]
        self.raise_bound(state["bound"], state["bound_by"])

    def _replace(self, values: Assignment, cost: float, member: str, time: float) -> float:
        gain = self.cost - cost if np.isfinite(cost) else 0.0
        self.assignment, self.cost = values, cost
        if np.isfinite(cost):
            self.finds.append(Find(member, time, cost))
        return gain

    def _costs_by_component(self, assignment: Assignment) -> NDArray[np.float64]:
        costs = self._problem.factor_costs(assignment)
        own = self._factor_component >= 0
        totals = np.bincount(self._factor_component[own], costs[own], minlength=self.num_components)
        return totals.astype(np.float64)


def least_of_tables(problem: Problem) -> float:
    """A lower bound: the sum of the least cell of each factor's table."""
    lowest, _ = problem.facts.finite_extremes
    terms = lowest[problem.factor_table]
    exact = problem.facts.integral and problem.facts.magnitude < EXACT  # then the quick sum does not round
    total = problem.constant + (float(terms.sum()) if exact else math.fsum(terms))
    return total - problem.facts.rounding_error
