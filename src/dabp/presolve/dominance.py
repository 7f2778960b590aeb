"""Rule: remove values that another value of the same variable replaces at no cost, whatever the other variables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.dominated_values import Incidences, remove_dominated
from dabp.presolve import rule
from dabp.presolve.effort import Effort, Efforts
from dabp.presolve.restriction import Restricted, restricted
from dabp.problem import Problem
from dabp.problem.columns import Indices, cell_strides, offsets_of, ragged_positions, unary_costs


def dominated_values(problem: Problem, efforts: Efforts, max_cells: int = 1_000_000) -> Restricted | None:
    """The problem on its undominated values, if the tables then have at most `max_cells` cells.

    On a problem with many values a sample of the variables decides whether enough values are dominated.
    """
    many, effort = rule.has_many_values(problem), efforts.dominance
    if many:
        some = np.arange(0, problem.num_variables, max(1, problem.num_variables // 5_000))
        if (~undominated_values(problem, effort, some)[0]).mean() < rule.NEGLIGIBLE:
            return None
    kept, replacement = undominated_values(problem, effort)
    if many and (~kept).mean() < rule.NEGLIGIBLE:
        return None
    return restricted(problem, kept, max_cells, replacement)


def undominated_values(
    problem: Problem, effort: Effort | None = None, some: Indices | None = None
) -> tuple[NDArray[np.bool_], Indices]:
    """Which values stay, [sum D], and for each value one that stays and replaces it at no cost, [sum D].

    Some optimum takes only values that stay. A search that its effort ends removes fewer values. With `some`, in rising
    order, only these variables are searched, and the result has only their values.
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
