"""Compiled part of `dabp.solvers.local_costs.compiled_costs`: factors of two variables as edges in order."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_kernel

Ints = NDArray[np.int64]


class Directed(NamedTuple):
    """F factors of two variables, seen from both ends: edge d · F + f starts at variable d of factor f."""

    pairs: Ints
    """[F, 2]."""
    soft: Ints
    """[2F]: where the finite costs of each edge begin, −1 if all are 0."""
    hard: Ints
    """[2F]: where what it forbids begins, −1 if it forbids nothing; empty if nothing does."""
    weight: Ints
    """[F]: which of the weights a factor has; empty if nothing forbids anything."""


class Ordered(NamedTuple):
    """The edges that are kept, by the variable at which they start, then by the other; columns of `Edges`."""

    offsets: Ints
    """[N + 1]: zeros before."""
    target: Ints
    soft_at: Ints
    hard_at: Ints
    """As it is where `Directed.hard` is empty, as is the next."""
    weight: Ints


@array_kernel
def order_edges(given: Directed, start: Ints, by_target: NDArray[Any], made: Ordered) -> None:
    """Sort by target, then by source, edges with both equal in order: two counting sorts.

    Edges with neither finite costs nor anything forbidden are left out. `start` [N + 1] comes in as zeros, `by_target`
    is room for all that are kept.
    """
    pairs, soft, hard, offsets = given.pairs, given.soft, given.hard, made.offsets
    count, variables, hardness = len(pairs), len(start) - 1, len(given.hard) > 0
    for direction in range(2):
        for f in range(count):
            edge = direction * count + f
            if soft[edge] >= 0 or (hardness and hard[edge] >= 0):
                start[pairs[f, 1 - direction] + 1] += 1
                offsets[pairs[f, direction] + 1] += 1
    for i in range(variables):
        start[i + 1] += start[i]
        offsets[i + 1] += offsets[i]
    for direction in range(2):
        for f in range(count):
            edge = direction * count + f
            if soft[edge] >= 0 or (hardness and hard[edge] >= 0):
                target = pairs[f, 1 - direction]
                by_target[start[target]] = edge
                start[target] += 1
    for i in range(variables):
        start[i] = offsets[i]
    for k in range(len(by_target)):
        kept = np.int64(by_target[k])
        direction = 1 if kept >= count else 0
        factor = kept - direction * count
        source = pairs[factor, direction]
        place = start[source]
        start[source] += 1
        made.target[place] = pairs[factor, 1 - direction]
        made.soft_at[place] = soft[kept]
        if hardness:
            made.hard_at[place], made.weight[place] = hard[kept], given.weight[factor]
