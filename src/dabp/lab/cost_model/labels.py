"""Exact labels: the least cost of a subtree for each value of its target, by bucket elimination."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import ParameterError
from dabp.lab.cost_model.subtree import Subtree

Table = tuple[tuple[int, ...], NDArray[np.floating[Any]]]
"""A scope in rising order, and an axis for each of its variables."""


def exact_costs(subtree: Subtree, max_entries: int = 2_000_000) -> NDArray[np.float64]:
    """Min over all variables but the target of the subtree's summed costs, one entry per value of the target.

    Variables are eliminated in order of the size of the table that this makes (least first).

    Raises
    ------
    ParameterError
        If a table would need more than `max_entries` entries.
    """
    tables: list[Table] = [((i,), u.astype(np.float64)) for i, u in enumerate(subtree.unary) if u is not None]
    for low, high, table in zip(subtree.lower.tolist(), subtree.upper.tolist(), subtree.tables, strict=True):
        tables.append(((low, high), table) if low < high else ((high, low), table.T))
    tables.append(((0,), np.zeros(subtree.sizes[0])))

    sizes = subtree.sizes.tolist()
    left = set(range(1, len(sizes)))
    neighbours = {i: {v for scope, _ in tables if i in scope for v in scope} - {i} for i in [0, *left]}
    while left:
        entries = {i: math.prod(sizes[v] for v in (i, *neighbours[i])) for i in left}
        variable = min(left, key=lambda i: (entries[i], i))
        if entries[variable] > max_entries:
            raise ParameterError(f"eliminating a variable needs {entries[variable]} entries, over {max_entries}")
        left.remove(variable)
        bucket = [one for one in tables if variable in one[0]]
        tables = [one for one in tables if variable not in one[0]]
        tables.append(_eliminated(variable, bucket, subtree))
        around = neighbours.pop(variable)
        for i in around:
            neighbours[i] = (neighbours[i] | around) - {i, variable}
    return np.asarray(sum(table for _, table in tables), dtype=np.float64)


def _eliminated(variable: int, bucket: list[Table], subtree: Subtree) -> Table:
    # The variable to minimise over comes last, where the minimum runs over adjacent entries.
    scope = (*sorted({v for one, _ in bucket for v in one} - {variable}), variable)
    total = np.zeros(tuple(subtree.sizes[list(scope)]))
    for own, table in bucket:
        order = sorted(range(len(own)), key=lambda axis: scope.index(own[axis]))
        shape = [int(subtree.sizes[v]) if v in own else 1 for v in scope]
        total += table.transpose(order).reshape(shape)
    return scope[:-1], total.min(axis=-1)
