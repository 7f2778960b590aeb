"""Rule: remove values that no feasible assignment takes, by generalised arc consistency on the hard factors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.arc_consistency import HardFactors, propagate
from dabp.presolve.effort import Effort, Efforts
from dabp.presolve.restriction import Restricted, restricted
from dabp.presolve.rule import InfeasibleError
from dabp.problem import Problem
from dabp.problem.columns import cell_strides, offsets_of, own_costs, ragged_positions


def unsupported_values(problem: Problem, efforts: Efforts, max_cells: int = 10_000_000) -> Restricted | None:
    """The problem on its supported values, if the tables then have at most `max_cells` cells."""
    kept = supported_values(problem, efforts.propagation)
    if kept is None:
        raise InfeasibleError
    return restricted(problem, kept, max_cells)


def supported_values(problem: Problem, effort: Effort | None = None) -> NDArray[np.bool_] | None:
    """Which values are supported, [sum D], or None if there is no feasible assignment.

    Values with forbidden unary costs are removed first, then every factor with a forbidden combination is made arc
    consistent until nothing changes or the effort ends.
    """
    effort = effort or Effort()
    if not problem.facts.forbidding.any():
        return np.ones(int(problem.domain_sizes.sum()), dtype=bool)
    costs, starts = own_costs(problem)
    alive = np.isfinite(costs)
    if problem.num_variables and not np.logical_or.reduceat(alive, starts[:-1]).all():
        return None
    hard = np.flatnonzero(problem.facts.forbidding[problem.factor_table] & (problem.arities != 1))
    if not len(hard):
        return alive
    if (problem.arities[hard] == 0).any():
        return None
    entries = ragged_positions(problem.scope_offsets, hard)
    scopes = problem.scope_variables[entries]
    offsets = offsets_of(problem.arities[hard])
    owner = np.repeat(np.arange(len(hard)), problem.arities[hard])
    order = np.argsort(scopes, kind="stable")
    incident_start = offsets_of(np.bincount(scopes, minlength=problem.num_variables))
    factors = HardFactors(
        scope_variables=scopes,
        scope_offsets=offsets,
        strides=cell_strides(problem)[entries],
        table_start=problem.pool_offsets[problem.factor_table[hard]],
        pool=problem.pool,
        domain_sizes=problem.domain_sizes,
        starts=starts,
        incident_factor=owner[order],
        incident_start=incident_start,
    )
    empty, effort.left = propagate(factors, alive.view(np.uint8), effort.left)
    return None if empty >= 0 else alive
