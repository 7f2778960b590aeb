"""Entries sorted by the variable that each belongs to."""

from __future__ import annotations

import numpy as np

from dabp.problem.columns import Indices, as_fixed, offsets_of

FEW = 50_000
"""Entries up to which NumPy sorts them in less time than loading a kernel takes."""


def grouped(variables: Indices, count: int) -> tuple[Indices, Indices]:
    """Entries sorted by variable, those of one in order, [E], and where the entries of each of `count` start, [N + 1].

    The first is ``np.argsort(variables, kind="stable")``.
    """
    if len(variables) <= FEW:
        return np.argsort(variables, kind="stable"), offsets_of(np.bincount(variables, minlength=count))
    from dabp.kernels.sorting import group_by_variable  # compiled, loaded only when it pays

    start, entry = np.zeros(count + 1, dtype=np.int64), np.empty(len(variables), dtype=np.int64)
    group_by_variable(as_fixed(variables), start, entry)
    return entry, start
