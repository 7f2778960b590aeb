"""Compiled search for dominated values (dead-end elimination, soft neighbourhood substitutability)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel

Array = Any
Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@inner
def _largest_difference(pool: Array, start: int, outer: int, size: int, inner: int, a: int, b: int) -> float:
    """The largest f(a, ·) − f(b, ·) over the other variables; −inf if b is forbidden throughout, inf if only a is."""
    worst = -np.inf
    for block in range(outer):
        first = start + block * size * inner
        for cell in range(inner):
            theirs = pool[first + b * inner + cell]
            if theirs < np.inf:
                difference = pool[first + a * inner + cell] - theirs
                if difference > worst:
                    worst = difference
                    if worst == np.inf:
                        break
    return worst


class Incidences(NamedTuple):
    """What every variable's values cost: by themselves, and in each factor of arity 2 and more that looks at it."""

    unary: Floats
    """[sum D]."""
    starts: Ints
    """[N + 1]: where each variable's values start."""
    first: Ints
    """[N + 1]: the factors of variable v are numbers ``first[v]`` to ``first[v + 1]`` of the following three."""
    table: Ints
    """The first cell of its table."""
    outer: Ints
    """Combinations of the variables before this one in its scope."""
    inner: Ints
    """Combinations of those after it."""
    pool: Floats


@kernel
def remove_dominated(costs: Incidences, alive: Array, replacement: Array, work: int) -> int:
    """Clear `alive` [sum D] for values that another value of the same variable can replace at no cost.

    ``replacement`` [sum D] gets for each value that is removed the value, alive, that replaces it.

    Value a replaces b if u(a) − u(b) + Σ_f max_x (f(a, x) − f(b, x)) ≤ 0 over the variable's factors f. As a
    quick test, a maximum is at least a mean: the sum starts from the differences of row means, and each factor
    looked at can only raise it. Ends when `work` cells and pairs have been looked at, at most a table's row later;
    what has been removed until then is right. Returns what is left of `work`.
    """
    unary, starts, incident_start, pool = costs.unary, costs.starts, costs.first, costs.pool
    incident_table, incident_outer, incident_inner = costs.table, costs.outer, costs.inner
    deepest = 0
    for variable in range(len(starts) - 1):
        pairs = (incident_start[variable + 1] - incident_start[variable]) * (starts[variable + 1] - starts[variable])
        deepest = max(deepest, pairs)
    mean = np.zeros(deepest)
    total = np.zeros(1)
    for variable in range(len(starts) - 1):
        size = starts[variable + 1] - starts[variable]
        first, last = incident_start[variable], incident_start[variable + 1]
        if size < 2:
            continue
        for edge in range(first, last):
            work -= size * incident_outer[edge] * incident_inner[edge]
        if work <= 0:
            return 0
        if len(total) < size:
            total = np.zeros(size)
        scale = 0.0
        for a in range(size):
            total[a] = unary[starts[variable] + a]
            scale = max(scale, abs(total[a]))
        for edge in range(first, last):
            outer, inner = incident_outer[edge], incident_inner[edge]
            hard = False
            for a in range(size):
                row = 0.0
                for block in range(outer):
                    begin = incident_table[edge] + (block * size + a) * inner
                    for cell in range(begin, begin + inner):
                        row += pool[cell]
                mean[(edge - first) * size + a] = row / (outer * inner)
                hard = hard or row == np.inf
            for a in range(size):
                if hard:  # a mean with forbidden cells says nothing; −inf marks the factor
                    mean[(edge - first) * size + a] = -np.inf
                else:
                    total[a] += mean[(edge - first) * size + a]
                    scale = max(scale, abs(total[a]))
        slack = 1e-9 * scale
        for b in range(size):
            if work <= 0:
                break
            for a in range(size):
                work -= 1
                if work <= 0:
                    break
                if a == b or not alive[starts[variable] + a] or not alive[starts[variable] + b]:
                    continue
                promise = total[a] - total[b]
                exact = unary[starts[variable] + a] - unary[starts[variable] + b]
                for edge in range(first, last):
                    if promise > slack:
                        break
                    worst = _largest_difference(
                        pool, incident_table[edge], incident_outer[edge], size, incident_inner[edge], a, b
                    )
                    work -= incident_outer[edge] * incident_inner[edge]
                    exact += worst
                    position = (edge - first) * size
                    if mean[position + a] == -np.inf:
                        promise += worst
                    else:
                        promise += worst - (mean[position + a] - mean[position + b])
                if promise <= slack and exact <= 0.0:
                    alive[starts[variable] + b] = 0
                    replacement[starts[variable] + b] = a
        # What replaced a value may itself have been replaced since.
        for b in range(size):
            while not alive[starts[variable] + replacement[starts[variable] + b]]:
                replacement[starts[variable] + b] = replacement[starts[variable] + replacement[starts[variable] + b]]
        if work <= 0:
            return 0
    return work
