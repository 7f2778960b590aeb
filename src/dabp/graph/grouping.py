"""Entries by the variable that each belongs to, in time linear in their number."""

from __future__ import annotations

import numpy as np

from dabp.problem.columns import Indices, as_fixed, offsets_of

FEW = 50_000
"""Up to so many entries NumPy sorts them as fast as it takes to load a kernel."""


def grouped(variables: Indices, count: int) -> tuple[Indices, Indices]:
    """Entries sorted by variable, those of one in order, [E], and where the entries of each of `count` start, [N + 1].

    The first is ``np.argsort(variables, kind="stable")``.
    """
    if len(variables) <= FEW:
        return np.argsort(variables, kind="stable"), offsets_of(np.bincount(variables, minlength=count))
    from dabp.kernels.grouping import group_by_variable  # compiled, loaded only when it pays

    start, entry = np.zeros(count + 1, dtype=np.int64), np.empty(len(variables), dtype=np.int64)
    group_by_variable(as_fixed(variables), start, entry)
    return entry, start
