"""Compiled generalised arc consistency on forbidden combinations."""

from __future__ import annotations

from typing import Any

import numpy as np

from dabp.kernels import kernel

Array = Any


@kernel
def propagate(
    scope_variables: Array,
    scope_offsets: Array,
    table_start: Array,
    pool: Array,
    domain_sizes: Array,
    starts: Array,
    incident_factor: Array,
    incident_start: Array,
    alive: Array,
    longest: int,
) -> int:
    """Remove values without support until every one left has a support in every factor.

    The factors given are the hard ones; ``incident_factor[incident_start[v]:incident_start[v + 1]]`` are those of
    variable v. A value is supported by a factor if some combination of values that are alive holds it at a
    finite cost. `alive` [sum D] is changed in place. Returns a variable that lost all its values, or −1.
    """
    num_factors = len(scope_offsets) - 1
    queue = np.arange(num_factors)
    queued = np.ones(num_factors, dtype=np.uint8)
    head, waiting = 0, num_factors
    digit = np.zeros(max(1, longest), dtype=np.int64)
    place = np.zeros(max(1, longest) + 1, dtype=np.int64)
    width = 0
    for factor in range(num_factors):
        total = 0
        for entry in range(scope_offsets[factor], scope_offsets[factor + 1]):
            total += domain_sizes[scope_variables[entry]]
        width = max(width, total)
    supported = np.zeros(max(1, width), dtype=np.uint8)

    while waiting > 0:
        factor = queue[head]
        head = (head + 1) % num_factors
        waiting -= 1
        queued[factor] = 0
        first, arity = scope_offsets[factor], scope_offsets[factor + 1] - scope_offsets[factor]
        place[0] = 0
        cells = 1
        for axis in range(arity):
            place[axis + 1] = place[axis] + domain_sizes[scope_variables[first + axis]]
            cells *= domain_sizes[scope_variables[first + axis]]
            digit[axis] = 0
        supported[: place[arity]] = 0
        for cell in range(table_start[factor], table_start[factor] + cells):
            if pool[cell] < np.inf:
                possible = True
                for axis in range(arity):
                    if not alive[starts[scope_variables[first + axis]] + digit[axis]]:
                        possible = False
                        break
                if possible:
                    for axis in range(arity):
                        supported[place[axis] + digit[axis]] = 1
            for axis in range(arity - 1, -1, -1):
                digit[axis] += 1
                if digit[axis] < place[axis + 1] - place[axis]:
                    break
                digit[axis] = 0
        for axis in range(arity):
            variable = scope_variables[first + axis]
            changed, left = False, 0
            for value in range(domain_sizes[variable]):
                if alive[starts[variable] + value]:
                    if supported[place[axis] + value]:
                        left += 1
                    else:
                        alive[starts[variable] + value] = 0
                        changed = True
            if left == 0:
                return int(variable)
            if changed:
                for position in range(incident_start[variable], incident_start[variable + 1]):
                    other = incident_factor[position]
                    if other != factor and not queued[other]:
                        queued[other] = 1
                        queue[(head + waiting) % num_factors] = other
                        waiting += 1
    return -1
