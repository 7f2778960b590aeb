"""Which factors can share a table after values were taken away: those that shared one and keep the same values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, offsets_of, row_keys


@dataclass(frozen=True)
class Sharing:
    """The tables of a problem on fewer values: some stay as they are, others are cut, each once."""

    same: Indices
    """Tables that stay, in order."""
    cut: Indices
    """For each table to cut, a factor that uses it."""
    cut_offsets: Indices
    """Where each cut table starts among the cut ones, and the end."""
    factor_table: Indices
    """The table of each factor: first those that stay, then the cut ones, [F]."""
    same_cells: int
    """Cells of the tables that stay."""

    @property
    def cells(self) -> int:
        """Cells of all tables together."""
        return self.same_cells + int(self.cut_offsets[-1])


def sharing(problem: Problem, kept: NDArray[np.bool_]) -> Sharing:
    """How tables are shared when only the `kept` values [sum D] stay."""
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
        for first in range(0, size, 32):  # 32 values at a time: the number of different keys so far takes the rest
            values = np.arange(first, min(first + 32, size))
            stays = kept[starts[variables][:, None] + values]
            sizes[variables] += stays.sum(axis=1)
            bits = (stays << (values - first)).sum(axis=1)
            keys = np.unique((keys << 32) | bits, return_inverse=True)[1]
        classes[variables] = count + keys
        count += int(keys.max()) + 1
    return classes, sizes
