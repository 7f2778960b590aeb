"""What kind of table each binary factor has, recognised from its costs: some kinds have min-marginals in O(L).

With L values, ``min_b f(a, b) + h(b)`` takes O(L²) for any table, and O(L) for these, where a = b, how far a is from b,
or which of the two cases holds is all that counts:

    Potts             f(a, b) = same if a = b else different
    truncated linear  f(a, b) = min(base + slope · |a − b|, top),  slope > 0
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.problem import Problem
from dabp.problem.columns import Indices

GENERAL = 0
"""The kind of tables without a known structure."""
POTTS = 1
"""The kind of tables with one cost for equal and one for different values."""
TRUNCATED_LINEAR = 2
"""The kind of tables whose cost grows with the distance of the values up to a limit."""


def table_kinds(problem: Problem) -> tuple[Indices, NDArray[np.float64]]:
    """The kind of each table of the pool and its parameters, [T] and [T, 3].

    Parameters are (same, different, 0) for `POTTS` and (base, slope, top) for `TRUNCATED_LINEAR`. Only tables that
    some binary factor with two equally large domains of 2 values or more uses are looked at; others are `GENERAL`,
    and so are those with forbidden cells.
    """
    kinds = np.zeros(len(problem.pool_offsets) - 1, dtype=np.int64)
    parameters = np.zeros((len(kinds), 3))
    for group in problem.facts.arity_groups:
        if group.variables.shape[1] != 2:
            continue
        sizes = problem.domain_sizes[group.variables]
        square = (sizes[:, 0] == sizes[:, 1]) & (sizes[:, 0] > 1)
        user = np.full(len(kinds), -1)  # some factor of each table, all of which have as many values
        user[problem.factor_table[group.factors[square]]] = np.flatnonzero(square)
        tables = np.flatnonzero(user >= 0)
        labels = sizes[user[tables], 0]
        for size in np.unique(labels):
            mine = tables[labels == size]
            rows = max(1, 2**22 // int(size * size))
            for start in range(0, len(mine), rows):
                chosen = _repeating(problem, mine[start : start + rows], int(size))
                kinds[chosen], parameters[chosen] = _kinds(problem, chosen, int(size))
    return kinds, parameters


def _repeating(problem: Problem, tables: Indices, size: int) -> Indices:
    """Of tables with `size` × `size` cells those of which two equal cells do not say already that they are of no kind.

    A function of |a − b| has f(0, 0) = f(1, 1) and f(0, 1) = f(1, 0).
    """
    first = problem.pool_offsets[tables]
    some = np.flatnonzero(problem.pool[first] == problem.pool[first + size + 1])
    first = first[some]
    repeating: Indices = tables[some[problem.pool[first + 1] == problem.pool[first + size]]]
    return repeating


def _kinds(problem: Problem, tables: Indices, size: int) -> tuple[Indices, NDArray[np.float64]]:
    """Of tables with `size` × `size` cells."""
    cells = problem.pool[problem.pool_offsets[tables][:, None] + np.arange(size * size)].reshape(-1, size, size)
    parameters = np.zeros((len(tables), 3))
    kinds = np.zeros(len(tables), dtype=np.int64)
    finite = np.isfinite(cells).all(axis=(1, 2))
    cells[~finite] = 0.0
    base, near = cells[:, 0, 0], cells[:, 0, 1]
    distance = np.abs(np.subtract.outer(np.arange(size), np.arange(size)))
    # A function of |a − b| repeats its first row along the diagonals.
    toeplitz = finite & (cells == cells[:, 0, distance]).all(axis=(1, 2))
    potts = toeplitz & (cells[:, 0, 1:] == near[:, None]).all(axis=1)
    kinds[potts] = POTTS
    parameters[potts, 0], parameters[potts, 1] = base[potts], near[potts]
    slope, top = near - base, cells[:, 0, -1]
    line = np.minimum(base[:, None] + slope[:, None] * np.arange(size), top[:, None])
    linear = toeplitz & ~potts & (slope > 0) & (cells[:, 0] == line).all(axis=1)
    kinds[linear] = TRUNCATED_LINEAR
    parameters[linear] = np.stack([base, slope, top], axis=1)[linear]
    return kinds, parameters
