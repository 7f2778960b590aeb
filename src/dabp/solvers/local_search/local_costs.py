"""A problem compiled for local search, and the states of searches on it."""

from __future__ import annotations

import numpy as np

from dabp.kernels.local_search.columns import VIOLATIONS, State
from dabp.kernels.local_search.local_costs import restart
from dabp.problem import Assignment, Problem
from dabp.solvers.local_search.compiled_costs import compiled_costs
from dabp.solvers.local_search.units import Units


class LocalCosts:
    """The compiled form and the units it is in.

    Attributes
    ----------
    units
        Costs as integers.
    costs
        What the kernels read.
    allowed
        Which places of the rows hold a value that may be taken, [R].
    infeasible
        Whether a proof of infeasibility lies open: a factor or all values of a variable forbid everything.
    """

    def __init__(self, problem: Problem):
        self.problem = problem
        self.units = Units(problem)
        self.costs, self.allowed = compiled_costs(self.units)
        constants = problem.pool_offsets[problem.factor_table[problem.arities == 0]]
        starts = self.costs.rows.start
        possible = np.logical_or.reduceat(self.allowed, starts) if len(starts) else np.ones(0, dtype=bool)
        self.infeasible = bool(self.units.forbids[constants].any() or not possible.all())

    def state(self, seed: int) -> State:
        """A state to be given an assignment (`put`) before use."""
        n, hard, dtype = self.problem.num_variables, len(self.costs.hard.wide), self.units.dtype
        return State(
            x=np.zeros(n, dtype=np.int64),
            local=np.zeros(len(self.costs.rows.unary), dtype=dtype),
            position=np.zeros(len(self.costs.wide.soft_at), dtype=np.int64),
            weights=np.full(hard, self.units.first_weight, dtype=dtype),
            violated=np.zeros(hard, dtype=np.int64),
            place=np.full(hard, -1, dtype=np.int64),
            best=np.zeros(n, dtype=np.int64),
            journal=np.zeros(max(n, 1), dtype=np.int64),
            tally=np.zeros(8, dtype=np.int64),
            random=np.array([seed], dtype=np.uint64),
        )

    def put(self, state: State, assignment: Assignment) -> None:
        """Continue from an assignment; values that are forbidden by themselves are replaced by the cheapest."""
        rows = self.costs.rows
        state.x[:] = assignment
        for i in np.flatnonzero(~self.allowed[rows.start + state.x]).tolist():
            state.x[i] = int(np.argmin(rows.unary[rows.start[i] : rows.start[i] + rows.width[i]]))
        restart(self.costs, state)

    def strengthen(self, state: State) -> None:
        """Make what the assignment violates weigh half as much again; L is then out of date until `put`."""
        violated = state.violated[: state.tally[VIOLATIONS]]
        state.weights[violated] += (state.weights[violated] + 1) // 2
        self.relax(state)

    def relax(self, state: State) -> None:
        """Halve all weights if one is so large that sums might leave the integers' range; then `put` as well."""
        if len(state.weights) and state.weights.max() >= self.units.heaviest:
            state.weights[:] = (state.weights + 1) // 2

    def random_assignment(self, rng: np.random.Generator) -> Assignment:
        """Values drawn uniformly."""
        return rng.integers(0, self.problem.domain_sizes)
