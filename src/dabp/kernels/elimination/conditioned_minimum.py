# mypy: disable-error-code="untyped-decorator"
"""Exact minimisation over a set of free variables, all others fixed, by elimination on reused memory, compiled.

A bucket's table is m(s) = min_x u(x) + Σ_j f_j(x, s). Its last axes form a block of at least 32 cells. Inputs are added
by the axes that they depend on: those of the block only are added up once, those of the other axes only are a number
for each block, and the rest, usually one larger table, is read through its offsets in the block.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from dabp.kernels.decorators import array_inner, kernel
from dabp.kernels.elimination.free_set import WIDEST, Columns, Floats, FreeSet, Ints
from dabp.kernels.local_search.random_stream import below

MOST_MIXED = 64
"""Inputs of a bucket that may depend on axes of the block and on others."""


class Tables(NamedTuple):
    """Memory for the elimination of a free set."""

    start: Ints
    """[most]: the first cell of each bucket's table in the pool."""
    first: Ints
    """[most]: the first bucket whose table is an input of each, −1 without one."""
    following: Ints
    """[most]: the next input of the same bucket."""
    axis: Ints
    """[most]: the axis of each variable in the current table."""
    at: Ints
    """[inputs]: the current cell of each input of the current bucket."""
    step: Ints
    """[inputs]: cells that a step of the eliminated variable moves."""
    stride: Ints
    """[inputs, WIDEST]: cells that a step along each axis moves."""
    outer: Ints
    """[inputs]: inputs that depend on axes before the block only."""
    mixed: Ints
    """[MOST_MIXED]: inputs that depend on both."""
    offset: Ints
    """[MOST_MIXED, block]: cells from the start of a block in such an input."""
    inside: Floats
    """[largest D, block]: the sum of inputs that depend on axes of the block only."""
    total: Floats
    """[block]: the sum of all inputs for one value."""
    least: Floats
    """[block]: its minimum over the values."""
    cost: Floats
    """[largest D]: costs of a variable's values."""
    digit: Ints
    """[WIDEST]: the current values of the axes before the block."""
    dims: Ints
    """[WIDEST]: domain sizes of the axes."""


def tables_for(problem: Columns, most: int) -> Tables:
    """Memory for sets of up to `most` variables."""
    inputs = most + int(np.diff(problem.incident_start).max(initial=0))
    largest = int(problem.sizes.max(initial=1))
    block = 32 * largest
    return Tables(
        start=np.zeros(most, dtype=np.int64),
        first=np.zeros(most, dtype=np.int64),
        following=np.zeros(most, dtype=np.int64),
        axis=np.zeros(most, dtype=np.int64),
        at=np.zeros(inputs, dtype=np.int64),
        step=np.zeros(inputs, dtype=np.int64),
        stride=np.zeros((inputs, WIDEST), dtype=np.int64),
        outer=np.zeros(inputs, dtype=np.int64),
        mixed=np.zeros(MOST_MIXED, dtype=np.int64),
        offset=np.zeros((MOST_MIXED, block), dtype=np.int64),
        inside=np.zeros((largest, block)),
        total=np.zeros(block),
        least=np.zeros(block),
        cost=np.zeros(largest),
        digit=np.zeros(WIDEST, dtype=np.int64),
        dims=np.zeros(WIDEST, dtype=np.int64),
    )


@array_inner
def _factors(problem: Columns, free: FreeSet, tables: Tables, i: int, values: Ints) -> tuple[int, float]:
    """Collect the factors of bucket i; returns their number and their cost with its own at `values`."""
    v, count = free.order[i], 0
    cost = problem.unary[problem.unary_start[v] + values[v]]
    for place in range(problem.incident_start[v], problem.incident_start[v + 1]):
        own = problem.incident[place]
        f = problem.factor[own]
        cell, fixed, latest = problem.table_start[f], problem.table_start[f], True
        for entry in range(problem.scope_start[f], problem.scope_start[f + 1]):
            moved = problem.stride[entry] * values[problem.variable[entry]]
            cell += moved
            p = free.position[problem.variable[entry]]
            if p > i:
                latest = False
                break
            if p < 0:
                fixed += moved
        if not latest:
            continue
        cost += problem.pool[cell]
        tables.at[count], tables.step[count] = fixed, problem.stride[own]
        for a in range(free.width[i]):
            tables.stride[count, a] = 0
        for entry in range(problem.scope_start[f], problem.scope_start[f + 1]):
            p = free.position[problem.variable[entry]]
            if 0 <= p < i:
                tables.stride[count, tables.axis[p]] = problem.stride[entry]
        count += 1
    return count, cost


@array_inner
def _with_tables(problem: Columns, free: FreeSet, tables: Tables, i: int, count: int) -> int:
    """Add the tables of earlier buckets to the inputs of bucket i; returns the number of all inputs."""
    child = tables.first[i]
    while child >= 0:
        for a in range(free.width[i]):
            tables.stride[count, a] = 0
        step = np.int64(1)
        for a in range(free.width[child] - 1, 0, -1):
            tables.stride[count, tables.axis[free.bucket[child, a]]] = step
            step *= problem.sizes[free.order[free.bucket[child, a]]]
        tables.at[count], tables.step[count] = tables.start[child], step
        count += 1
        child = tables.following[child]
    return count


@array_inner
def _sorted(problem: Columns, free: FreeSet, tables: Tables, i: int, count: int) -> tuple[int, int, int, int]:
    """Divide the inputs of bucket i by the axes that they depend on.

    Returns the axes before the block, the cells of the block, and the numbers of outer and mixed inputs, −1 if there
    are too many.
    """
    v, width, block = free.order[i], free.width[i], np.int64(1)
    first = width
    while first > 0 and block < 32:
        first -= 1
        block *= tables.dims[first]
    size, own = problem.sizes[v], problem.unary_start[v]
    for x in range(size):
        for cell in range(block):
            tables.inside[x, cell] = problem.unary[own + x]
    outer, mixed = 0, 0
    for j in range(count):
        before, within = False, False
        for a in range(width):
            if tables.stride[j, a] != 0:
                before, within = before or a < first, within or a >= first
        if before and not within:
            tables.outer[outer] = j
            outer += 1
            continue
        if mixed == MOST_MIXED:
            return first, int(block), outer, -1
        offset, length = tables.offset[mixed], np.int64(1)
        offset[0] = 0
        for a in range(width - 1, first - 1, -1):
            for cell in range(length, length * tables.dims[a]):
                offset[cell] = offset[cell - length] + tables.stride[j, a]
            length *= tables.dims[a]
        if before:
            tables.mixed[mixed] = j
            mixed += 1
            continue
        for x in range(size):
            start = tables.at[j] + x * tables.step[j]
            for cell in range(block):
                tables.inside[x, cell] += problem.pool[start + offset[cell]]
    return first, int(block), outer, mixed


@kernel(_nrt=False, no_cpython_wrapper=True, fastmath={"nnan", "nsz"})
def _block(pool: Floats, tables: Tables, size: int, block: int, outer: int, mixed: int, out: int) -> None:
    """Write a block of a table at the current cells of its inputs."""
    least, total = tables.least, tables.total
    for x in range(size):
        number, inside = 0.0, tables.inside[x]
        for k in range(outer):
            j = tables.outer[k]
            number += pool[tables.at[j] + x * tables.step[j]]
        if mixed == 1:
            j, offset = tables.mixed[0], tables.offset[0]
            start = tables.at[j] + x * tables.step[j]
            if x == 0:
                for cell in range(block):
                    least[cell] = inside[cell] + number + pool[start + offset[cell]]
            else:
                for cell in range(block):
                    least[cell] = min(least[cell], inside[cell] + number + pool[start + offset[cell]])
            continue
        for cell in range(block):
            total[cell] = inside[cell] + number
        for k in range(mixed):
            j, offset = tables.mixed[k], tables.offset[k]
            start = tables.at[j] + x * tables.step[j]
            for cell in range(block):
                total[cell] += pool[start + offset[cell]]
        for cell in range(block):
            least[cell] = total[cell] if x == 0 else min(least[cell], total[cell])
    for cell in range(block):
        pool[out + cell] = least[cell]


@array_inner
def _eliminate(problem: Columns, free: FreeSet, tables: Tables, i: int, count: int) -> bool:
    """Write the table of bucket i; False if it has too many inputs."""
    first, block, outer, mixed = _sorted(problem, free, tables, i, count)
    if mixed < 0:
        return False
    size, out = problem.sizes[free.order[i]], tables.start[i]
    for a in range(first):
        tables.digit[a] = 0
    while True:
        _block(problem.pool, tables, size, block, outer, mixed, out)
        out += block
        a = first - 1
        while a >= 0:
            tables.digit[a] += 1
            steps = 1
            if tables.digit[a] == tables.dims[a]:
                tables.digit[a], steps = 0, 1 - int(tables.dims[a])
            for k in range(outer):
                tables.at[tables.outer[k]] += steps * tables.stride[tables.outer[k], a]
            for k in range(mixed):
                tables.at[tables.mixed[k]] += steps * tables.stride[tables.mixed[k], a]
            if steps == 1:
                break
            a -= 1
        if a < 0:
            return True


@array_inner
def _axes(problem: Columns, free: FreeSet, tables: Tables, i: int) -> None:
    for a in range(free.width[i]):
        tables.axis[free.bucket[i, a]] = a
        tables.dims[a] = problem.sizes[free.order[free.bucket[i, a]]]


@kernel(_nrt=False)
def minimise(problem: Columns, free: FreeSet, tables: Tables, first_cell: int, values: Ints, random: Any) -> float:
    """Give the free variables values of least total cost, ties at random; returns the change of the cost, at most 0.

    Tables are written to the pool from `first_cell` on. Nothing is changed if a bucket has too many inputs.
    """
    count, cell, before, after = free.size[0], first_cell, 0.0, 0.0
    for i in range(count):
        tables.first[i] = -1
        tables.start[i] = cell
        cell += int(free.cells[i])
    for i in range(count - 1, -1, -1):
        _axes(problem, free, tables, i)
        factors, cost = _factors(problem, free, tables, i, values)
        before += cost
        if not _eliminate(problem, free, tables, i, _with_tables(problem, free, tables, i, factors)):
            return 0.0
        if free.width[i] > 0:
            parent = free.bucket[i, 0]
            tables.following[i], tables.first[parent] = tables.first[parent], i
    for i in range(count):
        _axes(problem, free, tables, i)
        factors, _ = _factors(problem, free, tables, i, values)
        v, inputs = free.order[i], _with_tables(problem, free, tables, i, factors)
        size, own = problem.sizes[v], problem.unary_start[v]
        for x in range(size):
            tables.cost[x] = problem.unary[own + x]
        for j in range(inputs):
            start = tables.at[j]
            for a in range(free.width[i]):
                start += tables.stride[j, a] * values[free.order[free.bucket[i, a]]]
            for x in range(size):
                tables.cost[x] += problem.pool[start + x * tables.step[j]]
        turn = below(random, size)
        best = turn
        for k in range(1, size):
            x = (turn + k) % size
            if tables.cost[x] < tables.cost[best]:
                best = x
        values[v] = best
        _, cost = _factors(problem, free, tables, i, values)
        after += cost
    return after - before
