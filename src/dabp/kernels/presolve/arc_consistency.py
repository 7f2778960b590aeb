"""Compiled generalised arc consistency on forbidden combinations."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel

Array = Any
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class HardFactors(NamedTuple):
    """Factors with forbidden combinations, and the domains that they look at."""

    scope_variables: Ints
    """Factor f looks at ``scope_variables[scope_offsets[f]:scope_offsets[f + 1]]``."""
    scope_offsets: Ints
    """[F + 1]."""
    strides: Ints
    """As long as `scope_variables`: cells that a step of each variable moves."""
    table_start: Ints
    """[F]: the first cell of each table."""
    pool: Floats
    domain_sizes: Ints
    """[N]."""
    starts: Ints
    """[N + 1]: where each variable's values start."""
    incident_factor: Ints
    """The factors of variable v are ``incident_factor[incident_start[v]:incident_start[v + 1]]``."""
    incident_start: Ints
    """[N + 1]."""


@inner
def _next_support(hard: HardFactors, factor: int, alive: Array, axis: int, value: int, place: int, end: int) -> int:
    """The first cell from `place` on, counted among those that hold the value, that is a support; `end` if none."""
    first, last = hard.scope_offsets[factor], hard.scope_offsets[factor + 1]
    variables, strides = hard.scope_variables[first:last], hard.strides[first:last]
    sizes, start = hard.domain_sizes, hard.table_start[factor]
    inner, size = strides[axis], sizes[variables[axis]]
    block, offset = place // inner, place % inner
    cell = (block * size + value) * inner + offset
    while place < end:
        if hard.pool[start + cell] < np.inf:
            possible = True
            for other in range(len(variables)):
                digit = (cell // strides[other]) % sizes[variables[other]]
                if not alive[hard.starts[variables[other]] + digit]:
                    possible = False
                    break
            if possible:
                return place
        place += 1
        cell += 1
        offset += 1
        if offset == inner:
            offset = 0
            cell += (size - 1) * inner
    return end


@kernel
def propagate(hard: HardFactors, alive: Array, work: int) -> tuple[int, int]:
    """Remove values without support until every one left has a support in every factor.

    A value is supported by a factor if some combination of values that are alive holds it at a finite cost. `alive`
    [sum D] is changed in place.

    A combination that is no support never becomes one, so each value of each factor goes on from the support it
    had last (GAC-2001): over all visits the cells of a factor are looked at once for each of its axes.

    Returns
    -------
    variable, work
        A variable that lost all its values, or −1, and what is left of `work`. When that is used up, values without
        support may be left; those that were removed have none.
    """
    scope_variables, scope_offsets, starts = hard.scope_variables, hard.scope_offsets, hard.starts
    domain_sizes = hard.domain_sizes
    num_factors = len(scope_offsets) - 1
    queue = np.arange(num_factors)
    queued = np.ones(num_factors, dtype=np.uint8)
    head, waiting = 0, num_factors
    support_start = np.zeros(len(scope_variables) + 1, dtype=np.int64)
    for entry in range(len(scope_variables)):
        support_start[entry + 1] = support_start[entry] + domain_sizes[scope_variables[entry]]
    support = np.zeros(support_start[-1], dtype=np.int64)

    while waiting > 0 and work > 0:
        factor = queue[head]
        head = (head + 1) % num_factors
        waiting -= 1
        queued[factor] = 0
        first, last = scope_offsets[factor], scope_offsets[factor + 1]
        cells = hard.strides[first] * domain_sizes[scope_variables[first]]
        for axis in range(last - first):
            variable = scope_variables[first + axis]
            end = cells // domain_sizes[variable]
            changed, left = False, 0
            for value in range(domain_sizes[variable]):
                if not alive[starts[variable] + value]:
                    continue
                before = support[support_start[first + axis] + value]
                place = _next_support(hard, factor, alive, axis, value, before, end)
                support[support_start[first + axis] + value] = place
                work -= (place - before + 1) * (last - first)
                if place < end:
                    left += 1
                else:
                    alive[starts[variable] + value] = 0
                    changed = True
            if left == 0:
                return int(variable), work
            if changed:
                for position in range(hard.incident_start[variable], hard.incident_start[variable + 1]):
                    other = hard.incident_factor[position]
                    if other != factor and not queued[other]:
                        queued[other] = 1
                        queue[(head + waiting) % num_factors] = other
                        waiting += 1
    return -1, max(0, work)
