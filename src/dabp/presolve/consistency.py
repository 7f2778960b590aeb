"""Values that no feasible assignment can take: generalised arc consistency on the hard parts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.consistency import HardFactors, propagate
from dabp.presolve.effort import Effort
from dabp.problem import Problem
from dabp.problem.columns import Indices, cell_strides, offsets_of, own_costs, ragged_positions


def supported_values(problem: Problem, effort: Effort | None = None) -> NDArray[np.bool_] | None:
    """Which values survive (flat, a variable after the other, [sum D]), or None if there is no feasible assignment.

    Forbidden unary costs go first, then every factor with a forbidden combination is made arc consistent until
    nothing changes. What is removed is in no feasible assignment; what stays need not be in one, and if
    the effort ends the search, need not even be consistent.
    """
    effort = effort or Effort()
    if not problem.facts.forbidding.any():
        return np.ones(int(problem.domain_sizes.sum()), dtype=bool)
    costs, starts = own_costs(problem)
    alive = np.isfinite(costs)
    if problem.num_variables and not np.logical_or.reduceat(alive, starts[:-1]).all():
        return None
    hard = _hard_factors(problem)
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


def _hard_factors(problem: Problem) -> Indices:
    """Factors other than unary ones with a forbidden combination."""
    if not problem.facts.forbidding.any():
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(problem.facts.forbidding[problem.factor_table] & (problem.arities != 1))
