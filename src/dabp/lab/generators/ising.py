"""Ising problems on a torus, in pyDCOP's parameters."""

from __future__ import annotations

import numpy as np

from dabp.errors import ParameterError
from dabp.lab.generators.graphs import check_size, ordered, pair
from dabp.problem import Problem
from dabp.problem.columns import offsets_of


def ising(
    row_count: int = 10,
    col_count: int = 10,
    bin_range: float = 1.6,
    un_range: float = 0.05,
    seed: int = 0,
) -> Problem:
    """A grid of values 0 and 1 whose opposite sides meet (Cerquides et al. 2018), as ``pydcop generate ising``.

    Neighbours cost k if they are equal and −k if not, k drawn from U[−β, β] for each pair; a value of 0 costs r and
    one of 1 costs −r, r drawn from U[−ρ, ρ] for each variable.

    Parameters
    ----------
    row_count, col_count
        The size of the grid.
    bin_range, un_range
        β and ρ.
    seed
        Decides everything.
    """
    if row_count < 1 or col_count < 1:
        raise ParameterError(f"a grid has rows and columns: {row_count} by {col_count}")
    if not (0 <= bin_range < np.inf and 0 <= un_range < np.inf):
        raise ParameterError(f"ranges are at least 0, not {bin_range} and {un_range}")
    check_size(row_count * col_count, 10 * row_count * col_count)
    rng = np.random.default_rng(seed)
    edges = ordered(_torus(row_count, col_count))
    count = row_count * col_count
    field, coupling = rng.uniform(-un_range, un_range, count), rng.uniform(-bin_range, bin_range, len(edges))
    names = [f"v_{r}_{c}" for r in range(row_count) for c in range(col_count)]
    return Problem(
        np.full(count, 2),
        np.concatenate([np.arange(count), edges.ravel()]),
        offsets_of(np.repeat([1, 2], [count, len(edges)])),
        np.concatenate([np.outer(field, [1, -1]).ravel(), np.outer(coupling, [1, -1, -1, 1]).ravel()]),
        offsets_of(np.repeat([2, 4], [count, len(edges)])),
        variable_names=names,
        factor_names=[f"cu_{name}" for name in names] + [f"cb_{names[i]}_{names[j]}" for i, j in edges.tolist()],
        name=f"Ising_{row_count}_{col_count}_{bin_range:g}_{un_range:g}",
    )


def _torus(rows: int, columns: int) -> set[tuple[int, int]]:
    """Each vertex with the one to its right and the one below it, around the edges; no vertex with itself."""
    found = set()
    for r in range(rows):
        for c in range(columns):
            here = r * columns + c
            for other in (r * columns + (c + 1) % columns, (r + 1) % rows * columns + c):
                if other != here:
                    found.add(pair(here, other))
    return found
