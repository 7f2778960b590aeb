"""Values that are never needed because another value of the same variable is at least as good, whatever the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.dominance import Incidences, remove_dominated
from dabp.presolve.effort import Effort
from dabp.problem import Problem
from dabp.problem.columns import Indices, cell_strides, offsets_of, unary_costs


def undominated_values(problem: Problem, effort: Effort | None = None) -> tuple[NDArray[np.bool_], Indices]:
    """Which values are needed, [sum D], and for each value one that is at least as good and needed, [sum D].

    Replacing every value of an assignment so never costs more; so some optimum takes only values that are needed.
    A search that its effort ends finds fewer values.
    """
    effort = effort or Effort()
    unary, starts = unary_costs(problem)
    alive = np.ones(starts[-1], dtype=bool)
    replacement = np.arange(starts[-1]) - np.repeat(starts[:-1], problem.domain_sizes)
    owner = np.repeat(np.arange(problem.num_factors), problem.arities)
    entries = np.flatnonzero(problem.arities[owner] >= 2)
    entries = entries[np.argsort(problem.scope_variables[entries], kind="stable")]
    factors, variables = owner[entries], problem.scope_variables[entries]
    inner = cell_strides(problem)[entries]
    tables = problem.factor_table[factors]
    cells = np.diff(problem.pool_offsets)[tables]
    costs = Incidences(
        unary=np.where(np.isfinite(unary), unary, np.finfo(np.float64).max / 4),
        starts=starts,
        first=offsets_of(np.bincount(variables, minlength=problem.num_variables)),
        table=problem.pool_offsets[tables],
        outer=cells // (inner * problem.domain_sizes[variables]),
        inner=inner,
        pool=problem.pool,
    )
    effort.left = remove_dominated(costs, alive.view(np.uint8), replacement, effort.left)
    return alive, replacement
