"""Descent (iterated conditional modes): each variable in turn takes the value that is cheapest beside the others'."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Entries(NamedTuple):
    """A problem's scopes, entry by entry; entry e is a place in the scope of a factor."""

    scope_start: Ints
    """[F + 1]: the entries of each factor."""
    variable: Ints
    """[E]."""
    stride: Ints
    """[E]: cells of the table that a step of the variable's value moves."""
    factor: Ints
    """[E]."""
    base: Ints
    """[F]: the first cell of each factor's table."""
    start: Ints
    """[N + 1]: each variable's part of `entry`."""
    entry: Ints
    """[E]: entries by variable."""
    domain: Ints
    """[N]."""
    pool: Floats


@array_kernel
def descend(entries: Entries, assignment: Ints, costs: Floats, first: int, last: int) -> int:
    """Let the variables from `first` to `last` take their cheapest values; how many took another.

    `costs` has room for the largest domain. A value is left only for a cheaper one, so that the total never rises.
    """
    changed = 0
    for i in range(first, last):
        size = entries.domain[i]
        for value in range(size):
            costs[value] = 0.0
        for place in range(entries.start[i], entries.start[i + 1]):
            own = entries.entry[place]
            factor = entries.factor[own]
            cell = entries.base[factor]
            for e in range(entries.scope_start[factor], entries.scope_start[factor + 1]):
                if e != own:
                    cell += assignment[entries.variable[e]] * entries.stride[e]
            for value in range(size):
                costs[value] += entries.pool[cell + value * entries.stride[own]]
        best = assignment[i]
        for value in range(size):
            if costs[value] < costs[best]:
                best = value
        changed += best != assignment[i]
        assignment[i] = best
    return changed
