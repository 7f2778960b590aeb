"""Problems without cycles: recognised, and solved exactly by dynamic programming from the leaves to the roots.

A problem is a forest if the graph of variables and factors has no cycle; factors may have any arity. One pass of
min-sum up and one down are exact on it, and decoding from the root keeps tied optima apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.elimination.forest import Scopes, decode_down, hang, minimise_up
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cell_strides, offsets_of
from dabp.solvers.base import Search, State, Step
from dabp.solvers.status import Status
from dabp.solvers.traffic import Traffic


@dataclass(frozen=True)
class Forest:
    """A problem known to be a forest: its factors of arity 2 and more in an order from the roots down."""

    problem: Problem
    order: NDArray[np.int64]
    """Factors, each after the one that its parent variable hangs from."""
    parent: NDArray[np.int64]
    """[F]: the place in a factor's scope of the variable above it."""

    @classmethod
    def of(cls, problem: Problem) -> Forest | None:
        """The problem as a forest, or None if it has a cycle."""
        constraints = problem.arities >= 2
        # A forest has fewer edges than nodes: this settles most problems without a search.
        nodes = problem.num_variables + int(constraints.sum())
        if int(problem.arities[constraints].sum()) > max(0, nodes - 1):
            return None
        order = np.empty(int(constraints.sum()), dtype=np.int64)
        parent = np.full(problem.num_factors, -1, dtype=np.int64)
        return cls(problem, order, parent) if hang(_scopes(problem), order, parent) >= 0 else None

    def solve(self) -> Assignment | None:
        """An optimal assignment of a minimisation problem, or None if every assignment is forbidden."""
        problem, scopes = self.problem, _scopes(self.problem)
        belief = np.zeros(int(problem.domain_sizes.sum()))
        values = np.zeros(2 * int(problem.arities.max(initial=1)), dtype=np.int64)
        assignment = np.zeros(problem.num_variables, dtype=np.int64)
        minimise_up(scopes, self.order, self.parent, belief, values)
        optimum = decode_down(scopes, self.order, self.parent, belief, values, assignment)
        return assignment if np.isfinite(optimum) and np.isfinite(problem.cost(assignment)) else None

    def diameter(self) -> int:
        """The most factors of arity 2 and more on a path: iterations until messages reach all variables."""
        scope_of, ends = self.problem.scope_variables.tolist(), self.problem.scope_offsets.tolist()
        parent, height, longest = self.parent.tolist(), [0] * self.problem.num_variables, 0
        for f in self.order[::-1].tolist():
            above = scope_of[ends[f] + parent[f]]
            below = sorted(height[i] for i in scope_of[ends[f] : ends[f + 1]] if i != above)
            longest = max(longest, 1 + below[-1] + max(height[above], below[-2] if len(below) > 1 else 0))
            height[above] = max(height[above], 1 + below[-1])
        return longest


class ForestSearch(Search):
    """The whole solve of a problem without cycles, in one step."""

    def __init__(self, forest: Forest, believes: bool = False):
        self._forest, self._believes = forest, believes

    def step(self) -> Step:
        """An optimum, or the proof that there is none."""
        best = self._forest.solve()
        if best is None:
            return Step(finished=Status.INFEASIBLE)
        cost = float(self._forest.problem.cost(best))
        return Step(
            np.array([cost]), best, cost, bound=cost, finished=Status.OPTIMAL, notes=("no cycles: solved exactly",)
        )

    def beliefs(self) -> tuple[NDArray[np.float64], ...] | None:
        """Of no variables, at a temperature: only problems whose variables are all fixed are solved here then."""
        return () if self._believes else None

    def traffic(self) -> Traffic:
        """One message up and one down every edge."""
        problem = self._forest.problem
        ends = problem.scope_variables[np.repeat(problem.arities >= 2, problem.arities)]
        return Traffic(2 * len(ends), 2 * int(problem.domain_sizes[ends].sum()))

    def state_dict(self) -> State:
        """Nothing is kept between steps."""
        return {}

    def load_state_dict(self, state: State) -> None:
        """There is nothing to restore."""


def _scopes(problem: Problem) -> Scopes:
    """The problem's columns as the kernels want them."""
    owner = np.repeat(np.arange(problem.num_factors), problem.arities)
    return Scopes(
        scope_start=problem.scope_offsets,
        variable=problem.scope_variables,
        stride=cell_strides(problem),
        base=problem.pool_offsets[problem.factor_table],
        factor_start=offsets_of(np.bincount(problem.scope_variables, minlength=problem.num_variables)),
        factor=owner[np.argsort(problem.scope_variables, kind="stable")],
        domain=problem.domain_sizes,
        belief_start=offsets_of(problem.domain_sizes),
        pool=problem.pool,
    )
