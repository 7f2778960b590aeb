"""Put a problem together again after some of its factors were dropped, changed or added."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Factors:
    """Factors as ragged columns, each with its own table: scopes with offsets, cells with offsets."""

    scope_variables: Indices
    scope_offsets: Indices
    pool: NDArray[np.float64]
    pool_offsets: Indices

    @property
    def count(self) -> int:
        """How many there are."""
        return len(self.scope_offsets) - 1


def offsets_of(lengths: Indices) -> Indices:
    """Where each of some consecutive pieces starts, and the end of the last: [n + 1]."""
    result = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=result[1:])
    return result


def ragged_positions(offsets: Indices, rows: Indices) -> Indices:
    """Positions of all entries of the chosen rows of a ragged array, row after row."""
    lengths = offsets[rows + 1] - offsets[rows]
    starts = offsets_of(lengths)
    return np.arange(starts[-1]) + np.repeat(offsets[rows] - starts[:-1], lengths)


def row_keys(rows: Indices, base: int) -> Indices:
    """An integer per row, equal exactly for equal rows; entries of all columns but the first are below `base`."""
    keys = rows[:, 0]
    for column in range(1, rows.shape[1]):
        if column > 1:  # after two columns the product could overflow: number the different keys first
            keys = np.unique(keys, return_inverse=True)[1]
        keys = keys * base + rows[:, column]
    return np.asarray(keys, dtype=np.int64)


def unary_costs(problem: Problem) -> tuple[NDArray[np.float64], Indices]:
    """The sum of the unary factors of every variable, flat, and where each variable's part starts: [sum D], [N + 1]."""
    starts = offsets_of(problem.domain_sizes)
    costs = np.zeros(starts[-1])
    rows = np.flatnonzero(problem.arities == 1)
    if len(rows):
        variables = problem.scope_variables[problem.scope_offsets[rows]]
        source = ragged_positions(problem.pool_offsets, problem.factor_table[rows])
        np.add.at(costs, ragged_positions(starts, variables), problem.pool[source])
    return costs, starts


def unary_factors(costs: NDArray[np.float64], starts: Indices) -> Factors:
    """A unary factor for each variable whose costs are not all zero."""
    length = np.diff(starts)
    useful = np.zeros(len(length), dtype=bool)
    useful[np.repeat(np.arange(len(length)), length)[costs != 0]] = True
    rows = np.flatnonzero(useful)
    return Factors(rows, np.arange(len(rows) + 1), costs[ragged_positions(starts, rows)], offsets_of(length[rows]))


def rebuilt(problem: Problem, kept: Indices, added: tuple[Factors, ...], constant: float) -> Problem:
    """The problem with only the `kept` factors and with the `added` ones; tables that nobody uses are gone."""
    used, table = np.unique(problem.factor_table[kept], return_inverse=True)
    scopes = [problem.scope_variables[ragged_positions(problem.scope_offsets, kept)]]
    arities = [problem.arities[kept]]
    pools = [problem.pool[ragged_positions(problem.pool_offsets, used)]]
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
        scope_variables=np.concatenate(scopes),
        scope_offsets=offsets_of(np.concatenate(arities)),
        pool=np.concatenate(pools),
        pool_offsets=offsets_of(np.concatenate(lengths)),
        factor_table=np.concatenate(tables),
        constant=constant,
        factor_names=None,
    )
