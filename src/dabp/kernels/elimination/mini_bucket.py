# mypy: disable-error-code="untyped-decorator"
"""Mini-bucket elimination, compiled: eliminate bucket by bucket as planned, then read the assignment back."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel
from dabp.kernels.elimination.mini_bucket_plan import Buckets, Floats, Functions, Ints


class Choices(NamedTuple):
    """The best value of each eliminated variable for each cell of its message, to read an assignment back from."""

    kept: bool
    """Whether they are kept, instead of the messages."""
    values: NDArray[np.uint8]
    """[cells of all messages]."""
    starts: Ints
    """[buckets + 1]: the first cell of each message."""


class Sums(NamedTuple):
    """The sums of a mini-bucket; its inputs are sorted by the fastest axis that they depend on."""

    place: Ints
    """[N]: the axis of each variable in the message's scope."""
    digit: Ints
    """[axes]: the values at the current cell."""
    until: Ints
    """[axes + 1]: the number of inputs, which come first, that depend on this axis or a faster one."""
    at: Ints
    """[inputs]: the cell of each input at the current values."""
    value_step: Ints
    """[inputs]: cells that a step of the eliminated variable moves."""
    step: Ints
    """[inputs, axes]: cells that a step along an axis moves."""
    partial: Floats
    """[axes + 1, D]: the sum over the inputs that depend on no axis below this one, for each value."""


@inner
def _room(sizes: Ints, functions: Functions, buckets: Buckets, bucket: int) -> Sums:
    """Memory for every mini-bucket from this one on."""
    most_inputs, widest, largest = 1, 1, 1
    for b in range(bucket, buckets.first[-1]):
        out = buckets.outputs[b]
        most_inputs = max(most_inputs, buckets.input_starts[b + 1] - buckets.input_starts[b])
        widest = max(widest, functions.starts[out + 1] - functions.starts[out])
        largest = max(largest, sizes[buckets.eliminated[b]])
    return Sums(
        np.full(len(sizes), -1, dtype=np.int64),
        np.empty(widest + 1, dtype=np.int64),
        np.empty(widest + 2, dtype=np.int64),
        np.empty(most_inputs, dtype=np.int64),
        np.empty(most_inputs, dtype=np.int64),
        np.empty((most_inputs, widest), dtype=np.int64),
        np.empty((widest + 2, largest), dtype=np.float64),
    )


@inner
def _begin(sizes: Ints, functions: Functions, buckets: Buckets, bucket: int, cell: int, sums: Sums) -> int:
    """Sort the inputs of a mini-bucket and move to a cell of its message; returns the number of its cells."""
    starts, variables, strides = functions.starts, functions.variables, functions.strides
    low = starts[buckets.outputs[bucket]]
    axes = starts[buckets.outputs[bucket] + 1] - low
    cells = 1
    for a in range(axes):
        sums.place[variables[low + a]] = a
        sums.digit[a] = (cell // cells) % sizes[variables[low + a]]
        cells *= sizes[variables[low + a]]
    count = 0
    for a in range(axes + 1):
        for k in range(buckets.input_starts[bucket], buckets.input_starts[bucket + 1]):
            f = buckets.inputs[k]
            fastest = axes
            if starts[f + 1] - starts[f] > 1:  # its scope is sorted: the variable itself, then the fastest
                fastest = sums.place[variables[starts[f] + 1]]
            if fastest != a:
                continue
            sums.at[count], sums.value_step[count] = functions.bases[f], strides[starts[f]]
            for c in range(axes):
                sums.step[count, c] = 0
            for i in range(starts[f] + 1, starts[f + 1]):
                c = sums.place[variables[i]]
                sums.step[count, c] = strides[i]
                sums.at[count] += strides[i] * sums.digit[c]
            count += 1
        sums.until[a] = count
    return int(cells)


@kernel(fastmath={"nnan", "nsz"})
def eliminate(
    sizes: Ints,
    functions: Functions,
    buckets: Buckets,
    pool: Floats,
    choices: Choices,
    bucket: int,
    cell: int,
    budget: int,
) -> tuple[int, int]:
    """Compute messages from (bucket, cell) on, about `budget` cells: m(s) = min_x Σ_j f_j(x, s).

    ``partial[a, x]`` is the sum of the inputs that do not depend on axes of s below a (axis 0 is the fastest), so that
    a step along axis 0 adds only the inputs that depend on it. Returns the bucket and cell to continue at.
    """
    sums = _room(sizes, functions, buckets, bucket)
    at, value_step, step, digit, until, partial = (
        sums.at,
        sums.value_step,
        sums.step,
        sums.digit,
        sums.until,
        sums.partial,
    )
    variables, num_buckets = functions.variables, buckets.first[-1]
    while bucket < num_buckets and budget > 0:
        out = buckets.outputs[bucket]
        size = sizes[buckets.eliminated[bucket]]
        low = functions.starts[out]
        axes = functions.starts[out + 1] - low
        cells = _begin(sizes, functions, buckets, bucket, cell, sums)
        for a in range(axes, 0, -1):
            _add_level(partial, a, axes, until, at, value_step, size, pool)
        end = min(cells, cell + budget)
        budget -= end - cell + 64  # the overhead of a small one
        target = functions.bases[out]
        while cell < end:
            # Along axis 0.
            run = 1 if axes == 0 else min(sizes[variables[low]] - digit[0], end - cell)
            above = 1 if axes else 0
            if axes == 0:
                _add_level(partial, 0, 0, until, at, value_step, size, pool)
            active = until[0] if axes else 0
            for _ in range(run):
                least = np.inf
                if choices.kept:
                    best = 0
                    for x in range(size):
                        cost = partial[above, x]
                        for j in range(active):
                            cost += pool[at[j] + x * value_step[j]]
                        if cost < least:
                            least, best = cost, x
                    choices.values[choices.starts[bucket] + cell] = best
                elif active == 1 and value_step[0] == 1:  # the usual case, vectorised
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


@inner
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
def read_back(order: Ints, sizes: Ints, functions: Functions, buckets: Buckets, pool: Floats, values: Ints) -> None:
    """Assign variables, last eliminated first, each to its least value in the functions of its bucket."""
    starts, strides, first = functions.starts, functions.strides, buckets.first
    largest = 1
    for v in range(len(sizes)):
        largest = max(largest, sizes[v])
    costs = np.empty(largest, dtype=np.float64)
    for r in range(len(order) - 1, -1, -1):
        variable = order[r]
        size = sizes[variable]
        costs[:size] = 0.0
        for k in range(buckets.input_starts[first[r]], buckets.input_starts[first[r + 1]]):
            f = buckets.inputs[k]
            at = functions.bases[f]
            for i in range(starts[f] + 1, starts[f + 1]):
                at += strides[i] * values[functions.variables[i]]
            for x in range(size):
                costs[x] += pool[at + x * strides[starts[f]]]
        best = 0
        for x in range(1, size):
            if costs[x] < costs[best]:
                best = x
        values[variable] = best


@kernel
def read_choices(order: Ints, functions: Functions, buckets: Buckets, choices: Choices, values: Ints) -> None:
    """Assign variables, last eliminated first, each to its best value for those of its message's scope."""
    starts, first = functions.starts, buckets.first
    for r in range(len(order) - 1, -1, -1):
        values[order[r]] = 0
        if first[r] == first[r + 1]:
            continue
        out = buckets.outputs[first[r]]
        at = choices.starts[first[r]]
        for i in range(starts[out], starts[out + 1]):
            at += functions.strides[i] * values[functions.variables[i]]
        values[order[r]] = choices.values[at]
