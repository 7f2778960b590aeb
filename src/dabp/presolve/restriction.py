"""A problem on fewer values; a variable with one value left is removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.presolve.table_sums import Cuts, restrict_tables
from dabp.presolve.merging import MAX_UNSHARING
from dabp.problem import Assignment, Problem
from dabp.problem.columns import (
    Indices,
    cell_strides,
    cells_of_tables,
    handed_over,
    offsets_of,
    ragged_positions,
    row_keys,
)


class Restricted:
    """A problem on fewer values, at least one for each variable.

    Factors that share a table and keep the same values along its axes share the smaller table.

    Parameters
    ----------
    problem
        The problem to restrict.
    kept
        Which values stay, [sum D].
    replacement
        For each value the kept one that replaces it in warm starts, [sum D]; by default the variable's first kept one.
    """

    def __init__(self, problem: Problem, kept: NDArray[np.bool_], replacement: Indices | None = None):
        starts = offsets_of(problem.domain_sizes)
        owner = np.repeat(np.arange(problem.num_variables), problem.domain_sizes)
        self.kept_values: Indices = (np.arange(len(kept)) - starts[owner])[kept]
        """The original number of each kept value, for all variables."""
        sizes = np.bincount(owner[kept], minlength=problem.num_variables)
        self.kept_starts: Indices = offsets_of(sizes)
        self.variables: Indices = np.flatnonzero(sizes > 1)
        self.removed = int((~kept).sum())
        place = np.where(kept, np.cumsum(kept) - 1 - self.kept_starts[:-1][owner], 0)
        self._place: Indices = place if replacement is None else place[starts[owner] + replacement]
        self._starts = starts
        self.problem = self._reduced(problem, sharing(problem, kept), sizes)

    def lift(self, assignment: Assignment) -> Assignment:
        """Give every value its original number, and removed variables their only value."""
        chosen = np.zeros(len(self._starts) - 1, dtype=np.int64)
        chosen[self.variables] = assignment
        values: Assignment = self.kept_values[self.kept_starts[:-1] + chosen]
        return values

    def project(self, assignment: Assignment) -> Assignment:
        """Replace removed values and drop removed variables."""
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


def restricted(
    problem: Problem, kept: NDArray[np.bool_], max_cells: int, replacement: Indices | None = None
) -> Restricted | None:
    """The problem on the `kept` values, and without variables of one value; None if nothing is removed.

    All values are kept if the tables would have more than `max_cells` cells and grow more than `MAX_UNSHARING` times.
    """
    if not kept.all() and sharing(problem, kept).cells > max(max_cells, MAX_UNSHARING * len(problem.pool)):
        kept, replacement = np.ones_like(kept), None
    if kept.all() and (problem.domain_sizes > 1).all():
        return None
    return Restricted(problem, kept, replacement)


@dataclass(frozen=True)
class Sharing:
    """The tables of a problem on fewer values: some stay, others are cut, each once."""

    same: Indices
    """Tables that stay, in order."""
    cut: Indices
    """For each table to cut, a factor that uses it."""
    cut_offsets: Indices
    """The first cell of each cut table among the cut ones, and the end."""
    factor_table: Indices
    """The table of each factor: first those that stay, then the cut ones, [F]."""
    same_cells: int
    """Cells of the tables that stay."""

    @property
    def cells(self) -> int:
        """Cells of all tables together."""
        return self.same_cells + int(self.cut_offsets[-1])


def sharing(problem: Problem, kept: NDArray[np.bool_]) -> Sharing:
    """How tables are shared on the `kept` values, [sum D]: factors with one table and the same values share one."""
    classes, sizes = _kept_classes(problem, kept)
    base = int(classes.max(initial=0)) + 1
    cut: list[Indices] = []
    whole = np.ones(problem.num_factors, dtype=bool)
    factor_table, count = np.zeros(problem.num_factors, dtype=np.int64), 0
    for group in problem.facts.arity_groups:
        changes = (sizes < problem.domain_sizes)[group.variables].any(axis=1)
        factors, variables = group.factors[changes], group.variables[changes]
        if not len(factors):
            continue
        whole[factors] = False
        rows = np.concatenate([problem.factor_table[factors][:, None], classes[variables]], axis=1)
        first, which = np.unique(row_keys(rows, base), return_index=True, return_inverse=True)[1:]
        cut.append(factors[first])
        factor_table[factors] = count + which
        count += len(first)
    same, which = np.unique(problem.factor_table[whole], return_inverse=True)
    factor_table[whole] = which
    factor_table[~whole] += len(same)
    representatives = np.concatenate([*cut, np.zeros(0, dtype=np.int64)])
    owner = np.repeat(np.arange(problem.num_factors), problem.arities)
    lengths = np.ones(problem.num_factors, dtype=np.int64)
    np.multiply.at(lengths, owner, sizes[problem.scope_variables])
    same_cells = int(np.diff(problem.pool_offsets)[same].sum())
    return Sharing(same, representatives, offsets_of(lengths[representatives]), factor_table, same_cells)


def _kept_classes(problem: Problem, kept: NDArray[np.bool_]) -> tuple[Indices, Indices]:
    """A number per variable, equal where domain size and kept values are, [N], and how many values stay, [N]."""
    starts = offsets_of(problem.domain_sizes)
    classes, sizes = np.zeros((2, problem.num_variables), dtype=np.int64)
    count = 0
    for size in np.unique(problem.domain_sizes).tolist():
        variables = np.flatnonzero(problem.domain_sizes == size)
        keys = np.zeros(len(variables), dtype=np.int64)
        for first in range(0, size, 32):  # a key has 32 bits for values and the rest for the key so far
            values = np.arange(first, min(first + 32, size))
            stays = kept[starts[variables][:, None] + values]
            sizes[variables] += stays.sum(axis=1)
            bits = (stays << (values - first)).sum(axis=1)
            keys = np.unique((keys << 32) | bits, return_inverse=True)[1]
        classes[variables] = count + keys
        count += int(keys.max()) + 1
    return classes, sizes
