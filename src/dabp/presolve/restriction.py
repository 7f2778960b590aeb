"""Some values of some variables taken away; a variable with one value left is gone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.tables import restrict_tables
from dabp.presolve.assembly import Indices, offsets_of, ragged_positions
from dabp.presolve.merging import cell_strides
from dabp.problem import Assignment, Problem


class Restricted:
    """A problem on fewer values; every variable keeps at least one.

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
        self.problem = self._reduced(problem, sizes)

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

    def _reduced(self, problem: Problem, sizes: Indices) -> Problem:
        touched = np.zeros(problem.num_factors, dtype=bool)
        owner = np.repeat(np.arange(problem.num_factors), problem.arities)
        touched[owner[(sizes < problem.domain_sizes)[problem.scope_variables]]] = True
        same, changed = np.flatnonzero(~touched), np.flatnonzero(touched)
        used, same_table = np.unique(problem.factor_table[same], return_inverse=True)
        entries = ragged_positions(problem.scope_offsets, changed)
        lengths = np.ones(problem.num_factors, dtype=np.int64)
        np.multiply.at(lengths, owner, sizes[problem.scope_variables])
        cells = offsets_of(lengths[changed])
        tables = np.zeros(cells[-1])
        restrict_tables(
            problem.pool,
            problem.pool_offsets[problem.factor_table[changed]],
            cell_strides(problem)[entries],
            problem.scope_variables[entries],
            offsets_of(problem.arities[changed]),
            self.kept_values,
            self.kept_starts,
            tables,
            cells,
        )
        factor_table = np.zeros(problem.num_factors, dtype=np.int64)
        factor_table[same] = same_table
        factor_table[changed] = len(used) + np.arange(len(changed))
        # An axis of one value can be left out of the scope: the cells stay where they are.
        stays = (sizes > 1)[problem.scope_variables]
        number = np.cumsum(sizes > 1) - 1
        return Problem(
            sizes[self.variables],
            number[problem.scope_variables[stays]],
            offsets_of(np.bincount(owner[stays], minlength=problem.num_factors)),
            np.concatenate([problem.pool[ragged_positions(problem.pool_offsets, used)], tables]),
            np.concatenate([offsets_of(np.diff(problem.pool_offsets)[used]), cells[1:] + _length(problem, used)]),
            factor_table,
            constant=problem.constant,
            limit=problem.limit,
            name=problem.name,
        )


def _length(problem: Problem, tables: Indices) -> int:
    return int(np.diff(problem.pool_offsets)[tables].sum())
