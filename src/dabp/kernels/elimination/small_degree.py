"""Compiled elimination of variables with few neighbours, any arity, with a policy to read them back."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner, inner, kernel
from dabp.kernels.elimination.living_factors import (
    MAX_SCOPE,
    Factors,
    Floats,
    Given,
    Index,
    Ints,
    entries_of,
    kill,
    no_factors,
    with_table,
)
from dabp.kernels.rows import copy_row, grown

Array = Any

MAX_FACTORS = 16
"""The most factors of a variable that is eliminated."""


class Cheap(NamedTuple):
    """Which variables are cheap enough to eliminate."""

    small: int
    """The most cells of a new binary table, whatever it replaces."""
    growth: float
    """The most cells of a new binary table, as a multiple of the cells that it replaces."""
    allowance: Floats
    """[N]: the most cells of a table of more than two neighbours when this variable is eliminated."""
    dear: int
    """Variables with at least this many given factors have too many neighbours."""


class Log(NamedTuple):
    """The eliminated variables in order."""

    num_steps: int
    variable: Ints
    """[num_steps …]."""
    scope_start: Ints
    """[num_steps + 1 …]: its neighbours are ``scopes[scope_start[k]:scope_start[k + 1]]``."""
    scopes: Ints
    policy_start: Ints
    """[num_steps + 1 …]: its best value for each combination of theirs, last one fastest, from here in `policies`."""
    policies: NDArray[np.int32]


class Bucket(NamedTuple):
    """The factors and neighbours of the variable that is eliminated next."""

    members: Ints
    """[factors]."""
    neighbours: Ints
    """[neighbours]."""
    dims: Ints
    """[neighbours]: their domain sizes."""
    tables: Ints
    """[factors]: the current cell of each in the copies of their tables."""
    steps: Ints
    """[factors]: cells that a step of the variable moves."""
    strides: Ints
    """[factors, neighbours]: cells that a step of each neighbour moves."""
    digit: Ints
    """[neighbours]: their current values."""


@inner
def _joined(
    factor: int, variable: int, count: int, width: int, given: Given, factors: Factors, index: Index, bucket: Bucket
) -> tuple[int, float]:
    """Put one of a variable's factors in its bucket; returns the number of neighbours and the cells of the factor."""
    cells, old = 1.0, factor < factors.num_given
    first, last = entries_of(factor, given, factors)
    for entry in range(first, last):
        other = given.scopes[entry] if old else factors.scopes[entry]
        cells *= given.sizes[other]
        if other != variable and index.mark[other] != variable and width <= MAX_SCOPE:
            index.mark[other] = variable
            bucket.neighbours[width] = other
            width += 1
    bucket.members[count] = factor
    return width, cells


@inner
def _gather(
    variable: int, given: Given, factors: Factors, index: Index, bucket: Bucket
) -> tuple[int, int, float, float]:
    """Collect a variable's living factors and neighbours, the newest first; removes dead factors from its lists.

    Returns the numbers of factors and neighbours, the cells of all tables and of the largest. Ends once there are more
    than `MAX_SCOPE` neighbours.
    """
    count, width, before, entry = 0, 0, np.int64(-1), np.int64(index.head[variable])
    removed, largest = 0.0, 0.0
    while entry >= 0 and width <= MAX_SCOPE:
        factor = factors.owner[entry]
        if not index.alive[factor]:
            if before < 0:
                index.head[variable] = factors.following[entry]
            else:
                factors.following[before] = factors.following[entry]
            entry = factors.following[entry]
            continue
        width, cells = _joined(factor, variable, count, width, given, factors, index, bucket)
        removed += cells
        largest = max(largest, cells)
        count += 1
        before, entry = entry, factors.following[entry]
    place = free = index.row[variable + 1] - 1
    while place >= index.living[variable] and width <= MAX_SCOPE:
        old = np.int64(index.factor[place])
        place -= 1
        if old < 0 or not index.alive[old]:
            continue
        index.factor[free] = old
        free -= 1
        width, cells = _joined(old, variable, count, width, given, factors, index, bucket)
        removed += cells
        largest = max(largest, cells)
        count += 1
    if place < index.living[variable]:
        index.living[variable] = free + 1
    else:
        index.factor[place + 1 : free + 1] = -1
    for k in range(width):
        index.mark[bucket.neighbours[k]] = -1
    return count, width, removed, largest


@inner
def _align(
    variable: int, count: int, width: int, given: Given, factors: Factors, bucket: Bucket, copied: Array
) -> Array:
    """Copy the tables of the bucket's factors to `copied`, or a longer array, which is returned; set their strides."""
    sizes, filled = given.sizes, 0
    for k in range(width):
        bucket.dims[k] = sizes[bucket.neighbours[k]]
    for j in range(count):
        factor = bucket.members[j]
        bucket.tables[j] = filled
        bucket.steps[j] = 0
        bucket.strides[j, :width] = 0
        stride = 1
        old = factor < factors.num_given
        first, last = entries_of(factor, given, factors)
        for entry in range(last - 1, first - 1, -1):
            other = given.scopes[entry] if old else factors.scopes[entry]
            if other == variable:
                bucket.steps[j] = stride
            for k in range(width):
                if bucket.neighbours[k] == other:
                    bucket.strides[j, k] = stride
            stride *= sizes[other]
        copied = grown(copied, filled + stride)
        table = given.table_start[factor] if old else factors.table_start[factor - factors.num_given]
        for cell in range(stride):
            copied[filled + cell] = given.pool[table + cell] if old else factors.pool[table + cell]
        filled += stride
    return copied


@inner
def _logged(log: Log, variable: int, bucket: Bucket, width: int, cells: int) -> Log:
    """The log with one more variable, whose policy is not set yet."""
    k = log.num_steps
    scopes = grown(log.scopes, log.scope_start[k] + width)
    copy_row(bucket.neighbours, width, scopes, log.scope_start[k])
    policies = grown(log.policies, log.policy_start[k] + cells)
    log.variable[k] = variable
    log.scope_start[k + 1] = log.scope_start[k] + width
    log.policy_start[k + 1] = log.policy_start[k] + cells
    return Log(k + 1, log.variable, log.scope_start, scopes, log.policy_start, policies)


@inner
def _minimise(own: Array, pool: Array, bucket: Bucket, count: int, width: int, out: Array, policy: Array) -> None:
    """out(s) += min_x u(x) + Σ_j f_j(x, s) and its argument, over all values s of the neighbours."""
    tables, steps, digit = bucket.tables, bucket.steps, bucket.digit
    digit[:width] = 0
    cell = 0
    while True:
        least, best = np.inf, 0
        for value in range(len(own)):
            cost = own[value]
            for j in range(count):
                cost += pool[tables[j] + value * steps[j]]
            if cost < least:
                least, best = cost, value
        out[cell] += least
        policy[cell] = best
        cell += 1
        axis = width - 1
        while axis >= 0:
            digit[axis] += 1
            back = digit[axis] if digit[axis] == bucket.dims[axis] else 0
            for j in range(count):
                tables[j] += bucket.strides[j, axis] * (1 - back)
            if back == 0:
                break
            digit[axis] = 0
            axis -= 1
        if axis < 0:
            return


@inner
def _cells(
    variable: int, width: int, removed: float, largest: float, leaves_only: bool, sizes: Array, cheap: Cheap, b: Bucket
) -> float:
    """Cells of the table over the neighbours, −1 if the elimination is not cheap."""
    product = 1.0
    for k in range(width):
        product *= sizes[b.neighbours[k]]
    if width > 1 and leaves_only:
        return -1.0
    if width > 2:
        if width > MAX_SCOPE or product > max(largest, cheap.allowance[variable]):
            return -1.0
    elif product > max(float(cheap.small), cheap.growth * removed):
        return -1.0
    return product


@array_inner
def _next(index: Index, position: int, waiting: int, most: int, dear: int) -> tuple[int, int, int]:
    """The next variable in the ring with at most `most` factors, fewer than `dear` of them given; −1 without one.

    Also returns its successor's place in the ring and the length of the ring then. A function of its own, since most
    variables are skipped and the loop of `eliminate` is slower.
    """
    queue, queued, gone, degree, given_degree = index.queue, index.queued, index.gone, index.degree, index.given_degree
    while waiting > 0:
        variable = np.int64(queue[position])
        position = position + 1 if position + 1 < len(queue) else 0
        waiting -= 1
        queued[variable] = 0
        if not gone[variable] and degree[variable] <= most and given_degree[variable] < dear:
            return int(variable), position, waiting
    return -1, position, waiting


@kernel
def eliminate(given: Given, index: Index, cheap: Cheap, work: int) -> tuple[float, Log, Factors, int]:
    """Eliminate variables as long as one is cheap: x is replaced by g(s) = min_x Σ_f f(x, s) over its neighbours s.

    Cheap means at most two neighbours and a table of at most `small` cells or `growth` times the cells it replaces, or
    more neighbours and a table no larger than one it replaces or than ``allowance[x]``; and no more operations than are
    left of `work`. `index` comes from `link`; `index.alive` then marks the factors that are left. `given.unary` is
    changed in place.

    Returns
    -------
    constant, log, factors, work
        The minimum over eliminated components, the eliminated variables, new factors, and what is left of `work`.
    """
    sizes, starts, unary = given.sizes, given.starts, given.unary
    n = len(sizes)
    factors = no_factors(n, len(given.table_start))
    log = Log(
        0,
        np.empty(max(1, n), dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.empty(max(16, n), dtype=np.int64),
        np.empty(n + 1, dtype=np.int64),
        np.empty(max(16, len(unary)), dtype=np.int32),
    )
    log.scope_start[0] = log.policy_start[0] = 0
    bucket = Bucket(
        np.zeros(MAX_FACTORS + 1, dtype=np.int64),
        np.zeros(MAX_SCOPE + 1, dtype=np.int64),
        np.zeros(MAX_SCOPE + 1, dtype=np.int64),
        np.zeros(MAX_FACTORS + 1, dtype=np.int64),
        np.zeros(MAX_FACTORS + 1, dtype=np.int64),
        np.zeros((MAX_FACTORS + 1, MAX_SCOPE + 1), dtype=np.int64),
        np.zeros(MAX_SCOPE + 1, dtype=np.int64),
    )
    constant, single, copied = 0.0, np.zeros(1), np.zeros(1024)
    # The first round eliminates variables with one neighbour at most, so that trees vanish before others are joined.
    queue, queued = index.queue, index.queued
    position, waiting, leaves_only = 0, n, True
    while waiting > 0 or leaves_only:
        if waiting == 0:
            for v in range(n):
                queue[v], queued[v] = v, 1
            position, waiting, leaves_only = 0, n, False
            continue
        variable, position, waiting = _next(index, position, waiting, 1 if leaves_only else MAX_FACTORS, cheap.dear)
        if variable < 0:
            continue
        count, width, removed, largest = _gather(variable, given, factors, index, bucket)
        product = _cells(variable, width, removed, largest, leaves_only, sizes, cheap, bucket)
        needed = product * (float(sizes[variable]) * (count + 1) + 16)  # 16 bounds the memory of new tables
        if product < 0 or needed > work:
            continue
        work -= int(needed)
        cells = int(product)
        copied = _align(variable, count, width, given, factors, bucket, copied)
        log = _logged(log, variable, bucket, width, cells)
        policy = log.policies[log.policy_start[log.num_steps - 1] :]
        own = unary[starts[variable] : starts[variable + 1]]
        index.gone[variable] = 1
        kill(given, factors, index, bucket.members[:count])
        if width == 0:
            single[0] = 0.0
            _minimise(own, copied, bucket, count, 0, single, policy)
            constant += single[0]
        elif width == 1:
            _minimise(own, copied, bucket, count, 1, unary[starts[bucket.neighbours[0]] :], policy)
        else:
            factors = with_table(factors, index, bucket.neighbours[:width], cells)
            out = factors.pool[factors.num_cells - cells :]
            _minimise(own, copied, bucket, count, width, out, policy)
        for k in range(width):
            other = bucket.neighbours[k]
            if not queued[other]:
                queued[other] = 1
                queue[(position + waiting) % n] = other
                waiting += 1
    return constant, log, factors, work


@kernel
def read_back(log: Log, sizes: Array, values: Array) -> None:
    """Give the eliminated variables their best values, last eliminated first; `values` [N] is changed in place."""
    for step in range(log.num_steps - 1, -1, -1):
        place = 0
        for entry in range(log.scope_start[step], log.scope_start[step + 1]):
            place = place * sizes[log.scopes[entry]] + values[log.scopes[entry]]
        values[log.variable[step]] = log.policies[log.policy_start[step] + place]
