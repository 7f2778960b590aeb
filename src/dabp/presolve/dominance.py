"""Values that are never needed because another value of the same variable is at least as good, whatever the rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.dominance import Incidences, remove_dominated
from dabp.presolve.effort import Effort
from dabp.problem import Problem
from dabp.problem.columns import Indices, cell_strides, offsets_of, ragged_positions, unary_costs


def undominated_values(
    problem: Problem, effort: Effort | None = None, some: Indices | None = None
) -> tuple[NDArray[np.bool_], Indices]:
    """Which values are needed, [sum D], and for each value one that is at least as good and needed, [sum D].

    Replacing every value of an assignment so never costs more; so some optimum takes only values that are needed.
    A search that its effort ends finds fewer values. With `some`, in rising order, only these variables are looked at,
    and the answer has only their values.
    """
    effort = effort or Effort()
    unary, starts = unary_costs(problem)
    sizes = problem.domain_sizes
    wanted = problem.arities >= 2
    if some is not None:
        unary, sizes = unary[ragged_positions(starts, some)], sizes[some]
        starts = offsets_of(sizes)
        number = np.full(problem.num_variables, -1)
        number[some] = np.arange(len(some))
    alive = np.ones(starts[-1], dtype=bool)
    replacement = np.arange(starts[-1]) - np.repeat(starts[:-1], sizes)
    entries = np.flatnonzero(np.repeat(wanted, problem.arities))
    if some is not None:
        entries = entries[number[problem.scope_variables[entries]] >= 0]
    entries = entries[np.argsort(problem.scope_variables[entries], kind="stable")]
    factors = np.searchsorted(problem.scope_offsets, entries, side="right") - 1
    variables = problem.scope_variables[entries]
    inner = cell_strides(problem)[entries]
    tables = problem.factor_table[factors]
    cells = np.diff(problem.pool_offsets)[tables]
    costs = Incidences(
        unary=np.where(np.isfinite(unary), unary, np.finfo(np.float64).max / 4),
        starts=starts,
        first=offsets_of(np.bincount(variables if some is None else number[variables], minlength=len(sizes))),
        table=problem.pool_offsets[tables],
        outer=cells // (inner * problem.domain_sizes[variables]),
        inner=inner,
        pool=problem.pool,
    )
    effort.left = remove_dominated(costs, alive.view(np.uint8), replacement, effort.left)
    return alive, replacement
