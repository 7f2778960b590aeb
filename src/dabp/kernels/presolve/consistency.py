"""Compiled generalised arc consistency on forbidden combinations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels.decorators import kernel

Array = Any


@kernel
def _next_support(
    pool: Array,
    start: int,
    variables: Array,
    strides: Array,
    sizes: Array,
    starts: Array,
    alive: Array,
    axis: int,
    value: int,
    place: int,
    end: int,
) -> int:
    """The first cell from `place` on, counted among those that hold the value, that is a support; `end` if none."""
    inner, size = strides[axis], sizes[variables[axis]]
    block, offset = place // inner, place % inner
    cell = (block * size + value) * inner + offset
    while place < end:
        if pool[start + cell] < np.inf:
            possible = True
            for other in range(len(variables)):
                digit = (cell // strides[other]) % sizes[variables[other]]
                if not alive[starts[variables[other]] + digit]:
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
def propagate(
    scope_variables: Array,
    scope_offsets: Array,
    strides: Array,
    table_start: Array,
    pool: Array,
    domain_sizes: Array,
    starts: Array,
    incident_factor: Array,
    incident_start: Array,
    alive: Array,
    work: int,
) -> tuple[int, int]:
    """Remove values without support until every one left has a support in every factor.

    The factors given are the hard ones; ``incident_factor[incident_start[v]:incident_start[v + 1]]`` are those of
    variable v. A value is supported by a factor if some combination of values that are alive holds it at a
    finite cost. `alive` [sum D] is changed in place.

    A combination that is no support never becomes one, so each value of each factor goes on from the support it
    had last (GAC-2001): over all visits the cells of a factor are looked at once for each of its axes.

    Returns
    -------
    variable, work
        A variable that lost all its values, or −1, and what is left of `work`. When that is used up, values without
        support may be left; those that were removed have none.
    """
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
        cells = strides[first] * domain_sizes[scope_variables[first]]
        for axis in range(last - first):
            variable = scope_variables[first + axis]
            end = cells // domain_sizes[variable]
            changed, left = False, 0
            for value in range(domain_sizes[variable]):
                if not alive[starts[variable] + value]:
                    continue
                before = support[support_start[first + axis] + value]
                place = _next_support(
                    pool,
                    table_start[factor],
                    scope_variables[first:last],
                    strides[first:last],
                    domain_sizes,
                    starts,
                    alive,
                    axis,
                    value,
                    before,
                    end,
                )
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
                for position in range(incident_start[variable], incident_start[variable + 1]):
                    other = incident_factor[position]
                    if other != factor and not queued[other]:
                        queued[other] = 1
                        queue[(head + waiting) % num_factors] = other
                        waiting += 1
    return -1, max(0, work)
