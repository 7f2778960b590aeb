# mypy: disable-error-code="untyped-decorator"
"""Factor→variable messages of any arity on padded arrays, and their gradient through the minimum (paper Eq. 3).

A range of factors, copies counted, is a thread's share: the edges of factor n are n × arity … + arity − 1.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel

Floats = NDArray[np.floating]
Integers = NDArray[np.int64]


class Tables(NamedTuple):
    """The costs of a group of factors of one shape."""

    tables: Floats
    """Each different table once, [U, cells], last variable fastest."""
    table_index: Integers
    """[G]: which of them each factor has."""
    scales: Floats
    """[C]: what each copy multiplies it with."""


@kernel
def messages(
    first: int, last: int, sizes: Integers, costs: Tables, v2f: Floats, f2v: Floats, winners: Integers
) -> None:
    """Factors of any arity with these domain sizes; `winners` [edges, D] gets the best cell."""
    tables, table_index, scales = costs
    arity, copies = len(sizes), len(scales)
    values = np.zeros(arity, dtype=np.int64)
    for factor in range(first, last):
        table, scale, base = tables[table_index[factor // copies]], scales[factor % copies], factor * arity
        for p in range(arity):
            for x in range(sizes[p]):
                winners[base + p, x] = -1
        values[:] = 0
        for cell in range(len(table)):
            total = scale * table[cell]
            for p in range(arity):
                cost = total
                for other in range(arity):
                    if other != p:
                        cost += v2f[base + other, values[other]]
                x = values[p]
                if winners[base + p, x] < 0 or cost < f2v[base + p, x]:
                    f2v[base + p, x] = cost
                    winners[base + p, x] = cell
            for p in range(arity - 1, -1, -1):
                values[p] += 1
                if values[p] < sizes[p]:
                    break
                values[p] = 0


@kernel
def gradients(first: int, last: int, sizes: Integers, winners: Integers, grad_f2v: Floats, grad_v2f: Floats) -> None:
    """Pass each f2v gradient to the v2f messages of the minimising cell."""
    arity = len(sizes)
    for edge in range(first * arity, last * arity):
        own, base = edge % arity, edge - edge % arity
        for x in range(sizes[own]):
            cell = winners[edge, x]
            for p in range(arity - 1, -1, -1):
                if p != own:
                    grad_v2f[base + p, cell % sizes[p]] += grad_f2v[edge, x]
                cell //= sizes[p]
