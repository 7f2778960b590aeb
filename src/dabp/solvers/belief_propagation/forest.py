"""Problems without cycles: recognised, and solved exactly by dynamic programming from the leaves to the roots.

A problem is a forest if the graph of variables and factors has no cycle; factors of arity 0 and 1 make none, and
factors of any higher arity are welcome. On it min-sum is exact, one pass up and one pass down suffice, and decoding
from the root keeps tied optima apart.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.elimination.forest import Scopes, decode_down, hang, minimise_up
from dabp.problem import Assignment, Problem
from dabp.problem.columns import cell_strides, offsets_of


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
