# mypy: disable-error-code="untyped-decorator"
"""Mini-bucket elimination, compiled: plan the buckets, eliminate, read the assignment back.

A *function* is a table with a scope: the problem's factors first, then the messages of mini-buckets. Its scope is
sorted by elimination rank, lowest first, and all functions live in one pool: function f looks at
``variables[starts[f]:starts[f + 1]]``, a step of these moves ``strides[…]`` cells from ``bases[f]``.
A mini-bucket b eliminates ``eliminated[b]`` from the sum of ``inputs[input_starts[b]:input_starts[b + 1]]`` and writes
function ``outputs[b]``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import kernel

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@kernel
def _grown(array: Any, size: int) -> Any:
    if size <= len(array):
        return array
    longer = np.empty(max(size, 2 * len(array)), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


@kernel
def plan(
    order: Ints,
    sizes: Ints,
    variables: Ints,
    strides: Ints,
    starts: Ints,
    bases: Ints,
    pool_size: int,
    i_bound: int,
    cap: int,
) -> Any:
    """Partition every bucket into mini-buckets whose messages have at most `i_bound` variables.

    Functions go into mini-buckets largest first, each to where it shares the most variables among those it fits.

    Returns
    -------
    tuple
        variables, strides, starts, bases of all functions; eliminated, inputs, input_starts, outputs of the
        mini-buckets; the first mini-bucket of each rank, [n + 1]; the size of the pool; whether no bucket was split.
        The pool's size is −1 if messages would take more than `cap` cells.
    """
    n = len(order)
    rank = np.empty(n, dtype=np.int64)
    for r in range(n):
        rank[order[r]] = r
    functions = len(bases)
    head = np.full(n, -1, dtype=np.int64)
    following = np.full(max(functions, 1), -1, dtype=np.int64)
    for f in range(functions):
        if starts[f + 1] > starts[f]:
            r = rank[variables[starts[f]]]
            following[f] = head[r]
            head[r] = f
    eliminated, outputs = np.empty(n + 1, dtype=np.int64), np.empty(n + 1, dtype=np.int64)
    inputs, input_starts = np.empty(functions + 1, dtype=np.int64), np.zeros(n + 2, dtype=np.int64)
    first = np.zeros(n + 1, dtype=np.int64)
    members = np.empty(64, dtype=np.int64)
    home = np.empty(64, dtype=np.int64)
    widest = i_bound + 1
    for f in range(functions):
        widest = max(widest, starts[f + 1] - starts[f])
    scopes, lengths = np.empty((4, widest), dtype=np.int64), np.zeros(4, dtype=np.int64)
    union = np.empty(widest, dtype=np.int64)
    buckets, num_inputs, exact, limit = 0, 0, True, pool_size + cap
    for r in range(n):
        first[r] = buckets
        count = 0
        f = head[r]
        while f >= 0:
            members = _grown(members, count + 1)
            members[count] = f
            count += 1
            f = following[f]
        home = _grown(home, count)
        parts = 0
        for length in range(widest, 0, -1):
            for k in range(count):
                f = members[k]
                if starts[f + 1] - starts[f] != length:
                    continue
                scope = variables[starts[f] : starts[f + 1]]
                chosen, overlap = -1, -1
                for p in range(parts):
                    shared = _shared(scopes[p], lengths[p], scope, rank)
                    if shared > overlap and lengths[p] + length - shared <= max(i_bound + 1, lengths[p]):
                        chosen, overlap = p, shared
                if chosen < 0:
                    if parts == len(lengths):
                        wider = np.empty((2 * parts, widest), dtype=np.int64)
                        wider[:parts] = scopes
                        scopes, lengths = wider, _grown(lengths, 2 * parts)
                    chosen, lengths[parts] = parts, 0
                    parts += 1
                lengths[chosen] = _merge(scopes[chosen], lengths[chosen], scope, rank, union)
                home[k] = chosen
        exact = exact and parts <= 1
        # Write the mini-buckets down, and each message into the bucket of its lowest-ranked variable.
        for p in range(parts):
            for k in range(count):
                if home[k] == p:
                    inputs = _grown(inputs, num_inputs + 1)
                    inputs[num_inputs] = members[k]
                    num_inputs += 1
            eliminated, outputs = _grown(eliminated, buckets + 1), _grown(outputs, buckets + 1)
            input_starts = _grown(input_starts, buckets + 2)
            eliminated[buckets], outputs[buckets], input_starts[buckets + 1] = order[r], functions, num_inputs
            buckets += 1
            bases, starts = _grown(bases, functions + 1), _grown(starts, functions + 2)
            following = _grown(following, functions + 1)
            end = starts[functions]
            variables, strides = _grown(variables, end + lengths[p]), _grown(strides, end + lengths[p])
            bases[functions] = pool_size
            cells = 1
            for k in range(1, lengths[p]):
                variables[end], strides[end] = scopes[p, k], cells
                end += 1
                cells *= sizes[scopes[p, k]]
                if cells > cap:
                    break
            pool_size += cells
            if cells > cap or pool_size > limit:
                return variables, strides, starts, bases, eliminated, inputs, input_starts, outputs, first, -1, exact
            starts[functions + 1] = end
            if lengths[p] > 1:
                target = rank[scopes[p, 1]]
                following[functions] = head[target]
                head[target] = functions
            functions += 1
    first[n] = buckets
    return variables, strides, starts, bases, eliminated, inputs, input_starts, outputs, first, pool_size, exact


@kernel
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


@kernel
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
    scope[:count] = union[:count]
    return count


@kernel(fastmath={"nnan", "nsz"})
def eliminate(
    sizes: Ints,
    variables: Ints,
    strides: Ints,
    starts: Ints,
    bases: Ints,
    eliminated: Ints,
    inputs: Ints,
    input_starts: Ints,
    outputs: Ints,
    num_buckets: int,
    pool: Floats,
    bucket: int,
    cell: int,
    budget: int,
) -> Any:
    """Compute messages from (bucket, cell) on, about `budget` cells: m(s) = min_x Σ_j f_j(x, s).

    The sum is kept per axis of s: ``partial[a, x]`` holds the inputs that do not look at axes below a (axis 0 is the
    fastest), so that a step along axis 0 adds only the inputs that look at it. Returns where to continue.
    """
    place = np.full(len(sizes), -1, dtype=np.int64)
    most_inputs, widest, largest = 1, 1, 1
    for b in range(bucket, num_buckets):
        most_inputs = max(most_inputs, input_starts[b + 1] - input_starts[b])
        widest = max(widest, starts[outputs[b] + 1] - starts[outputs[b]])
        largest = max(largest, sizes[eliminated[b]])
    step = np.empty((most_inputs, widest), dtype=np.int64)
    value_step, at = np.empty(most_inputs, dtype=np.int64), np.empty(most_inputs, dtype=np.int64)
    until = np.empty(widest + 2, dtype=np.int64)
    digit = np.empty(widest + 1, dtype=np.int64)
    partial = np.empty((widest + 2, largest), dtype=np.float64)
    while bucket < num_buckets and budget > 0:
        variable, out = eliminated[bucket], outputs[bucket]
        size = sizes[variable]
        low = starts[out]
        axes = starts[out + 1] - low
        cells = 1
        for a in range(axes):
            place[variables[low + a]] = a
            digit[a] = (cell // cells) % sizes[variables[low + a]]
            cells *= sizes[variables[low + a]]
        # Inputs sorted by their fastest axis: the first until[a] of them look at axis a or a faster one.
        count = 0
        for a in range(axes + 1):
            for k in range(input_starts[bucket], input_starts[bucket + 1]):
                f = inputs[k]
                fastest = axes
                if starts[f + 1] - starts[f] > 1:  # its scope is sorted: the variable itself, then the fastest
                    fastest = place[variables[starts[f] + 1]]
                if fastest != a:
                    continue
                at[count], value_step[count] = bases[f], strides[starts[f]]
                for c in range(axes):
                    step[count, c] = 0
                for i in range(starts[f] + 1, starts[f + 1]):
                    c = place[variables[i]]
                    step[count, c] = strides[i]
                    at[count] += strides[i] * digit[c]
                count += 1
            until[a] = count
        for a in range(axes, 0, -1):
            _add_level(partial, a, axes, until, at, value_step, size, pool)
        end = min(cells, cell + budget)
        budget -= end - cell + 64  # the overhead of a small one
        target = bases[out]
        while cell < end:
            # Along axis 0.
            run = 1 if axes == 0 else min(sizes[variables[low]] - digit[0], end - cell)
            above = 1 if axes else 0
            if axes == 0:
                _add_level(partial, 0, 0, until, at, value_step, size, pool)
            active = until[0] if axes else 0
            for _ in range(run):
                least = np.inf
                if active == 1 and value_step[0] == 1:  # the usual case, vectorised
                    for x in range(size):
                        least = min(least, partial[above, x] + pool[at[0] + x])
                else:
                    for x in range(size):
                        cost = partial[above, x]
                        for j in range(active):
                            cost += pool[at[j] + x * value_step[j]]
                        least = min(least, cost)
                pool[target + cell] = least
                cell += 1
                for j in range(active):
                    at[j] += step[j, 0]
            if axes == 0:
                break
            digit[0] += run
            a = 0
            while a < axes and digit[a] == sizes[variables[low + a]]:
                for j in range(until[a]):
                    at[j] -= step[j, a] * digit[a]
                digit[a] = 0
                a += 1
                if a < axes:
                    digit[a] += 1
                    for j in range(until[a]):
                        at[j] += step[j, a]
            for c in range(min(a, axes - 1), 0, -1):
                _add_level(partial, c, axes, until, at, value_step, size, pool)
        if cell >= cells:
            bucket, cell = bucket + 1, 0
    return bucket, cell


@kernel
def _add_level(
    partial: Floats, a: int, axes: int, until: Ints, at: Ints, value_step: Ints, size: int, pool: Floats
) -> None:
    """partial[a] = partial[a + 1] + the inputs whose fastest axis is a (a = axes: those with none)."""
    for x in range(size):
        partial[a, x] = 0.0 if a == axes else partial[a + 1, x]
    for j in range(until[a - 1] if a else 0, until[a]):
        start, stride = at[j], value_step[j]
        for x in range(size):
            partial[a, x] += pool[start + x * stride]


@kernel
def read_back(
    order: Ints,
    sizes: Ints,
    variables: Ints,
    strides: Ints,
    starts: Ints,
    bases: Ints,
    inputs: Ints,
    input_starts: Ints,
    first: Ints,
    pool: Floats,
    values: Ints,
) -> None:
    """Assign variables, last eliminated first, each to where the functions of its bucket are least."""
    largest = 1
    for v in range(len(sizes)):
        largest = max(largest, sizes[v])
    costs = np.empty(largest, dtype=np.float64)
    for r in range(len(order) - 1, -1, -1):
        variable = order[r]
        size = sizes[variable]
        costs[:size] = 0.0
        for k in range(input_starts[first[r]], input_starts[first[r + 1]]):
            f = inputs[k]
            at = bases[f]
            for i in range(starts[f] + 1, starts[f + 1]):
                at += strides[i] * values[variables[i]]
            for x in range(size):
                costs[x] += pool[at + x * strides[starts[f]]]
        best = 0
        for x in range(1, size):
            if costs[x] < costs[best]:
                best = x
        values[variable] = best
