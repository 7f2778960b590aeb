"""A problem as entries, one for each (factor, variable) of a scope: what the dual and the forest kernels read."""

from __future__ import annotations

import numpy as np

from dabp.problem import Problem
from dabp.problem.columns import Indices, cell_strides, nullary_constant, offsets_of, ragged_positions, unary_costs


class Incidence:
    """Columns of a problem's factors of arity 2 or more; unary costs apart, arity 0 in `constant`.

    Entries are numbered factor after factor, in the order of the scopes.
    """

    def __init__(self, problem: Problem):
        higher = np.flatnonzero(problem.arities >= 2)
        entries = ragged_positions(problem.scope_offsets, higher)
        arities = problem.arities[higher]
        self.sizes: Indices = problem.domain_sizes
        self.unary, self.unary_start = unary_costs(problem)
        """Own costs of each variable's values, flat, and where each variable's start: [sum D], [N + 1]."""
        self.variable: Indices = problem.scope_variables[entries]
        """The variable of each entry, [E]."""
        self.stride: Indices = cell_strides(problem)[entries]
        """Cells of the table that a step of this variable's value moves, [E]."""
        self.factor: Indices = np.repeat(np.arange(len(higher)), arities)
        """The factor of each entry, counted among those of arity 2 or more, [E]."""
        self.scope_start: Indices = offsets_of(arities)
        """The first entry of each factor, [F + 1]."""
        self.table_start: Indices = problem.pool_offsets[problem.factor_table[higher]]
        """The first cell of each factor's table in `pool`, [F]."""
        self.pool = problem.pool
        self.incident: Indices = np.argsort(self.variable, kind="stable")
        """Entries by variable, [E]."""
        self.incident_start: Indices = offsets_of(np.bincount(self.variable, minlength=problem.num_variables))
        """Where each variable's part of `incident` starts, [N + 1]."""
        self.constant = nullary_constant(problem)
        self.longest = int(arities.max(initial=0))
        """The largest arity."""
