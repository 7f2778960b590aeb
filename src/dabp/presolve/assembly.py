"""Put a problem together again after factors were dropped, changed or added, or variables removed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices, cells_of_tables, handed_over, offsets_of, ragged_positions


@dataclass(frozen=True)
class Factors:
    """Factors as ragged columns, each with its own table: scopes with offsets, cells with offsets."""

    scope_variables: Indices
    scope_offsets: Indices
    pool: NDArray[np.float64]
    pool_offsets: Indices

    @property
    def count(self) -> int:
        """The number of factors."""
        return len(self.scope_offsets) - 1


def unary_factors(costs: NDArray[np.float64], starts: Indices) -> Factors:
    """A unary factor for each variable whose costs are not all zero."""
    length = np.diff(starts)
    useful = np.zeros(len(length), dtype=bool)
    useful[np.repeat(np.arange(len(length)), length)[costs != 0]] = True
    rows = np.flatnonzero(useful)
    return Factors(rows, np.arange(len(rows) + 1), costs[ragged_positions(starts, rows)], offsets_of(length[rows]))


def rebuilt(problem: Problem, kept: Indices, added: tuple[Factors, ...], constant: float) -> Problem:
    """The problem with only the `kept` factors and with the `added` ones; tables that no factor uses are gone."""
    used, table = np.unique(problem.factor_table[kept], return_inverse=True)
    scopes = [problem.scope_variables[ragged_positions(problem.scope_offsets, kept)]]
    arities = [problem.arities[kept]]
    pools = [cells_of_tables(problem, used)]
    lengths = [np.diff(problem.pool_offsets)[used]]
    tables, number = [table.astype(np.int64)], len(used)
    for part in added:
        scopes.append(part.scope_variables)
        arities.append(np.diff(part.scope_offsets))
        pools.append(part.pool)
        lengths.append(np.diff(part.pool_offsets))
        tables.append(np.arange(number, number + part.count))
        number += part.count
    return problem.replace(
        scope_variables=handed_over(np.concatenate(scopes)),
        scope_offsets=handed_over(offsets_of(np.concatenate(arities))),
        pool=handed_over(np.concatenate(pools)),
        pool_offsets=handed_over(offsets_of(np.concatenate(lengths))),
        factor_table=handed_over(np.concatenate(tables)),
        constant=constant,
        factor_names=None,
    )


def with_variables(problem: Problem, kept: Indices) -> Problem:
    """The problem with only the `kept` variables, in rising order, which are all that its factors contain."""
    number = np.zeros(problem.num_variables, dtype=np.int64)
    number[kept] = np.arange(len(kept))
    return problem.replace(
        domain_sizes=handed_over(problem.domain_sizes[kept]),
        scope_variables=handed_over(number[problem.scope_variables]),
        variable_names=None,
        labels=None,
    )
