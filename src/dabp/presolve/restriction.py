"""Some values of some variables taken away; a variable with one value left is gone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.tables import Cuts, restrict_tables
from dabp.presolve.sharing import Sharing, sharing
from dabp.problem import Assignment, Problem
from dabp.problem.columns import Indices, cell_strides, cells_of_tables, handed_over, offsets_of, ragged_positions


class Restricted:
    """A problem on fewer values; every variable keeps at least one.

    Factors that share a table and keep the same values along it share the smaller table too.

    Parameters
    ----------
    problem
        The problem to restrict.
    kept
        Which values stay, flat, a variable after the other, [sum D].
    replacement
        For each value the one that stands for it in warm starts, and stays, [sum D]; by default a value that is gone
        becomes the variable's first one that stays.
    """

    def __init__(self, problem: Problem, kept: NDArray[np.bool_], replacement: Indices | None = None):
        starts = offsets_of(problem.domain_sizes)
        owner = np.repeat(np.arange(problem.num_variables), problem.domain_sizes)
        self.kept_values: Indices = (np.arange(len(kept)) - starts[owner])[kept]
        """Original value of each kept one, flat over all variables (also those that are gone)."""
        sizes = np.bincount(owner[kept], minlength=problem.num_variables)
        self.kept_starts: Indices = offsets_of(sizes)
        self.variables: Indices = np.flatnonzero(sizes > 1)
        """The variables that are left, in their original numbers."""
        place = np.where(kept, np.cumsum(kept) - 1 - self.kept_starts[:-1][owner], 0)
        self._place: Indices = place if replacement is None else place[starts[owner] + replacement]
        self._starts = starts
        self.problem = self._reduced(problem, sharing(problem, kept), sizes)

    def lift(self, assignment: Assignment) -> Assignment:
        """Give every value its original number, and the variables that are gone the only value they have."""
        chosen = np.zeros(len(self._starts) - 1, dtype=np.int64)
        chosen[self.variables] = assignment
        values: Assignment = self.kept_values[self.kept_starts[:-1] + chosen]
        return values

    def project(self, assignment: Assignment) -> Assignment:
        """Drop the variables that are gone, and put its replacement for each value that is gone."""
        places: Assignment = self._place[self._starts[:-1] + assignment]
        return places[self.variables]

    def _reduced(self, problem: Problem, tables: Sharing, sizes: Indices) -> Problem:
        entries = ragged_positions(problem.scope_offsets, tables.cut)
        cut = np.zeros(tables.cut_offsets[-1])
        jobs = Cuts(
            table_start=problem.pool_offsets[problem.factor_table[tables.cut]],
            out_start=tables.cut_offsets,
            axis_start=offsets_of(problem.arities[tables.cut]),
            strides=cell_strides(problem)[entries],
            variable=problem.scope_variables[entries],
            kept_values=self.kept_values,
            kept_start=self.kept_starts,
        )
        restrict_tables(problem.pool, jobs, cut)
        same = cells_of_tables(problem, tables.same)
        same_offsets = offsets_of(np.diff(problem.pool_offsets)[tables.same])
        # An axis of one value can be left out of the scope: the cells stay where they are.
        stays = (sizes > 1)[problem.scope_variables]
        number = np.cumsum(sizes > 1) - 1
        owner = np.repeat(np.arange(problem.num_factors), problem.arities)
        return Problem(
            handed_over(sizes[self.variables]),
            handed_over(number[problem.scope_variables[stays]]),
            handed_over(offsets_of(np.bincount(owner[stays], minlength=problem.num_factors))),
            handed_over(np.concatenate([same, cut])),
            handed_over(np.concatenate([same_offsets, tables.same_cells + tables.cut_offsets[1:]])),
            tables.factor_table,
            constant=problem.constant,
            limit=problem.limit,
            name=problem.name,
        )
