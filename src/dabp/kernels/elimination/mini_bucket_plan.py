# mypy: disable-error-code="untyped-decorator"
"""The plan of a mini-bucket elimination, compiled: the functions of each mini-bucket and the sizes of messages."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel
from dabp.kernels.rows import copy_row, grown

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


class Functions(NamedTuple):
    """Tables with scopes in one pool: the problem's factors first, then the messages of mini-buckets."""

    variables: Ints
    """The scope of function f is ``variables[starts[f]:starts[f + 1]]``, sorted by elimination rank, lowest first."""
    strides: Ints
    """Cells that a step of each of these moves."""
    starts: Ints
    """[functions + 1]."""
    bases: Ints
    """[functions]: the first cell of each in the pool."""


class Buckets(NamedTuple):
    """Mini-buckets in the order of elimination."""

    eliminated: Ints
    """[buckets]: the variable that each eliminates."""
    inputs: Ints
    """The functions of mini-bucket b are ``inputs[input_starts[b]:input_starts[b + 1]]``."""
    input_starts: Ints
    """[buckets + 1]."""
    outputs: Ints
    """[buckets]: the function that each writes."""
    first: Ints
    """[N + 1]: the first mini-bucket of each elimination rank, and their number."""


class Partition(NamedTuple):
    """The mini-buckets of one bucket; rows beyond its parts are unused."""

    scopes: Ints
    """[parts, widest]: the variables of each part, sorted by rank."""
    lengths: Ints
    """[parts]: the numbers of these."""


@inner
def _partitioned(
    functions: Functions, members: Ints, count: int, rank: Ints, i_bound: int, partition: Partition, home: Ints
) -> Any:
    """Put each of the bucket's members, largest first, into the part that it fits and shares the most variables with.

    Fills `home` [count] and returns the partition, perhaps with more memory, and the number of parts.
    """
    widest = partition.scopes.shape[1]
    union = np.empty(widest, dtype=np.int64)
    parts = 0
    for length in range(widest, 0, -1):
        for k in range(count):
            f = members[k]
            if functions.starts[f + 1] - functions.starts[f] != length:
                continue
            scope = functions.variables[functions.starts[f] : functions.starts[f + 1]]
            chosen, overlap = -1, -1
            for p in range(parts):
                shared = _shared(partition.scopes[p], partition.lengths[p], scope, rank)
                fits = partition.lengths[p] + length - shared <= max(i_bound + 1, partition.lengths[p])
                if shared > overlap and fits:
                    chosen, overlap = p, shared
            if chosen < 0:
                if parts == len(partition.lengths):
                    wider = np.empty((2 * parts, widest), dtype=np.int64)
                    for p in range(parts):
                        copy_row(partition.scopes[p], widest, wider[p], 0)
                    partition = Partition(wider, grown(partition.lengths, 2 * parts))
                chosen, partition.lengths[parts] = parts, 0
                parts += 1
            partition.lengths[chosen] = _merge(partition.scopes[chosen], partition.lengths[chosen], scope, rank, union)
            home[k] = chosen
    return partition, parts


@inner
def _with_message(functions: Functions, number: int, scope: Ints, sizes: Ints, base: int, cap: int) -> Any:
    """The functions with a message over ``scope[1:]`` as function `number`, and its cells (stops counting at `cap`)."""
    starts, bases = grown(functions.starts, number + 2), grown(functions.bases, number + 1)
    end = starts[number]
    variables, strides = grown(functions.variables, end + len(scope)), grown(functions.strides, end + len(scope))
    bases[number] = base
    cells = 1
    for k in range(1, len(scope)):
        variables[end], strides[end] = scope[k], cells
        end += 1
        cells *= sizes[scope[k]]
        if cells > cap:
            break
    starts[number + 1] = end
    return Functions(variables, strides, starts, bases), cells


@kernel
def make_plan(order: Ints, sizes: Ints, functions: Functions, pool_size: int, i_bound: int, cap: int) -> Any:
    """Partition every bucket into mini-buckets whose messages have at most `i_bound` variables.

    Returns
    -------
    functions, buckets, pool_size, exact
        All functions; the mini-buckets; the size of the pool, −1 if messages would take more than `cap` cells;
        whether no bucket was split.
    """
    n, number = len(order), len(functions.bases)
    rank = np.empty(n, dtype=np.int64)
    for r in range(n):
        rank[order[r]] = r
    # The functions of each bucket as a list: the first of them, and for each function the next one.
    head = np.full(n, -1, dtype=np.int64)
    following = np.full(max(number, 1), -1, dtype=np.int64)
    widest = i_bound + 1
    for f in range(number):
        widest = max(widest, functions.starts[f + 1] - functions.starts[f])
        if functions.starts[f + 1] > functions.starts[f]:
            r = rank[functions.variables[functions.starts[f]]]
            following[f] = head[r]
            head[r] = f
    eliminated, outputs = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    inputs, input_starts = np.empty(number + 1, dtype=np.int64), np.zeros(n + 2, dtype=np.int64)
    first = np.zeros(n + 1, dtype=np.int64)
    members, home = np.empty(64, dtype=np.int64), np.empty(64, dtype=np.int64)
    partition = Partition(np.empty((4, widest), dtype=np.int64), np.zeros(4, dtype=np.int64))
    buckets, num_inputs, exact, limit = 0, 0, True, pool_size + cap
    for r in range(n):
        first[r] = buckets
        count = 0
        f = head[r]
        while f >= 0:
            members = grown(members, count + 1)
            members[count] = f
            count += 1
            f = following[f]
        home = grown(home, count)
        partition, parts = _partitioned(functions, members, count, rank, i_bound, partition, home)
        exact = exact and parts <= 1
        # Write the mini-buckets down, and each message into the bucket of its lowest-ranked variable.
        for p in range(parts):
            inputs = grown(inputs, num_inputs + count)
            for k in range(count):
                if home[k] == p:
                    inputs[num_inputs] = members[k]
                    num_inputs += 1
            eliminated, outputs = grown(eliminated, buckets + 1), grown(outputs, buckets + 1)
            input_starts = grown(input_starts, buckets + 2)
            eliminated[buckets], outputs[buckets], input_starts[buckets + 1] = order[r], number, num_inputs
            buckets += 1
            scope = partition.scopes[p, : partition.lengths[p]]
            functions, cells = _with_message(functions, number, scope, sizes, pool_size, cap)
            pool_size += cells
            if cells > cap or pool_size > limit:
                return functions, Buckets(eliminated, inputs, input_starts, outputs, first), -1, exact
            following = grown(following, number + 1)
            if len(scope) > 1:
                following[number] = head[rank[scope[1]]]
                head[rank[scope[1]]] = number
            number += 1
    first[n] = buckets
    return functions, Buckets(eliminated, inputs, input_starts, outputs, first), pool_size, exact


@kernel
def reuse_memory(functions: Functions, buckets: Buckets, sizes: Ints, pool_size: int) -> Any:
    """Put messages where earlier ones have been read, which a message of an unsplit bucket is once.

    Parameters
    ----------
    functions, buckets, sizes
        As planned by `make_plan`.
    pool_size
        Cells of the factors, which stay.

    Returns
    -------
    functions, pool_size, cells
        The functions with other bases; the cells that are in use at a time; [buckets + 1], the first of the cells of
        each message if all were kept.
    """
    count = buckets.first[-1]
    factors = buckets.outputs[0] if count else 0  # messages follow them in the order of buckets
    bases, cells = functions.bases.copy(), np.zeros(count + 1, dtype=np.int64)
    gap_start, gap_end = np.empty(count + 2, dtype=np.int64), np.empty(count + 2, dtype=np.int64)  # sorted, apart
    gap_start[0], gap_end[0], gaps, top = pool_size, np.iinfo(np.int64).max, 1, pool_size
    for b in range(count):
        out = buckets.outputs[b]
        size = 1
        for k in range(functions.starts[out], functions.starts[out + 1]):
            size *= sizes[functions.variables[k]]
        cells[b + 1] = cells[b] + size
        g = 0
        while gap_end[g] - gap_start[g] < size:
            g += 1
        bases[out] = gap_start[g]
        gap_start[g] += size
        top = max(top, gap_start[g])
        for k in range(buckets.input_starts[b], buckets.input_starts[b + 1]):
            f = buckets.inputs[k]
            if f < factors:
                continue
            start, end = bases[f], bases[f] + cells[f - factors + 1] - cells[f - factors]
            g = 0
            while g < gaps and gap_start[g] < start:
                g += 1
            for at in range(gaps, g, -1):
                gap_start[at], gap_end[at] = gap_start[at - 1], gap_end[at - 1]
            gap_start[g], gap_end[g] = start, end
            gaps += 1
            kept = 0
            for at in range(1, gaps):  # join what touches
                if gap_end[kept] >= gap_start[at]:
                    gap_end[kept] = max(gap_end[kept], gap_end[at])
                else:
                    kept += 1
                    gap_start[kept], gap_end[kept] = gap_start[at], gap_end[at]
            gaps = kept + 1
    return Functions(functions.variables, functions.strides, functions.starts, bases), top, cells


@inner
def _shared(scope: Ints, length: int, other: Ints, rank: Ints) -> int:
    """Variables that two scopes, both sorted by rank, have in common."""
    i, j, count = 0, 0, 0
    while i < length and j < len(other):
        if scope[i] == other[j]:
            i, j, count = i + 1, j + 1, count + 1
        elif rank[scope[i]] < rank[other[j]]:
            i += 1
        else:
            j += 1
    return count


@inner
def _merge(scope: Ints, length: int, other: Ints, rank: Ints, union: Ints) -> int:
    """Make `scope` the sorted union with `other`; its new length."""
    i, j, count = 0, 0, 0
    while i < length or j < len(other):
        if j == len(other) or (i < length and rank[scope[i]] < rank[other[j]]):
            union[count] = scope[i]
            i += 1
        else:
            if i < length and scope[i] == other[j]:
                i += 1
            union[count] = other[j]
            j += 1
        count += 1
    copy_row(union, count, scope, 0)
    return count
