"""Sets of variables that are narrow enough for exact elimination when all others are fixed, grown one by one, compiled.

A set is eliminated in the reverse order of its growth. The bucket of its i-th variable contains the variables before it
that its table covers: neighbours, and neighbours of those eliminated earlier. A new variable joins if the tables of
the changed buckets stay within the budget: its own bucket, then that of the latest variable in it, and so on until
one does not change.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import array_inner, array_kernel
from dabp.kernels.local_search.random_stream import below

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

WIDEST = 24
"""The most variables that a table covers."""


class Columns(NamedTuple):
    """Columns of a problem, as in `dabp.problem.incidence.Incidence`; no cost is infinite in an elimination."""

    sizes: Ints
    """[N]: domain sizes."""
    unary: Floats
    """[sum D]: own costs of values."""
    unary_start: Ints
    """[N + 1]: the first own cost of each variable."""
    variable: Ints
    """[E]: the variable of each entry of a scope."""
    stride: Ints
    """[E]: cells that a step of its value moves."""
    factor: Ints
    """[E]: its factor."""
    scope_start: Ints
    """[F + 1]: the first entry of each factor."""
    table_start: Ints
    """[F]: the first cell of each factor in `pool`."""
    pool: Floats
    """The cells of all tables, then memory for those of an elimination."""
    incident: Ints
    """[E]: entries by variable."""
    incident_start: Ints
    """[N + 1]: the first of each variable in `incident`."""

    @classmethod
    def of(cls, incidence: Any) -> Columns:
        """The columns of an `Incidence`."""
        return cls(*(getattr(incidence, name) for name in cls._fields))


class FreeSet(NamedTuple):
    """A set of variables in the order of growth, and memory to grow it."""

    size: Ints
    """[1]: the number of variables."""
    order: Ints
    """[most]: the variables."""
    position: Ints
    """[N]: the place of each variable in `order`, −1 for those that are not in the set."""
    bucket: Ints
    """[most, WIDEST]: the places of the variables in each bucket, the latest first."""
    width: Ints
    """[most]: the number of them."""
    cells: Floats
    """[most]: the cells of the bucket's table."""
    changed: Ints
    """[most]: places whose buckets a new variable changes, itself first."""
    new_bucket: Ints
    """[most + 1, WIDEST]: these buckets."""
    new_width: Ints
    """[most + 1]."""
    new_cells: Floats
    """[most + 1]."""
    queue: Ints
    """[N]: variables in the order in which they are tried."""
    tried: Ints
    """[N]: the last search that reached each variable."""
    near: Ints
    """[N]: the same for searches around a variable of a path."""
    distance: Ints
    """[N]: steps from the start of such a search."""
    parent: Ints
    """[N]: the variable from which a search reached each."""
    path: Ints
    """[N]: variables of a path."""
    searches: Ints
    """[1]: the number of searches."""


def free_set(variables: int) -> FreeSet:
    """An empty set, with memory for up to 65,536 variables."""
    most = min(variables, 2**16)
    whole = [np.zeros(variables, dtype=np.int64) for _ in range(6)]
    return FreeSet(
        size=np.zeros(1, dtype=np.int64),
        order=np.zeros(most, dtype=np.int64),
        position=np.full(variables, -1, dtype=np.int64),
        bucket=np.zeros((most, WIDEST), dtype=np.int64),
        width=np.zeros(most, dtype=np.int64),
        cells=np.zeros(most),
        changed=np.zeros(most, dtype=np.int64),
        new_bucket=np.zeros((most + 1, WIDEST), dtype=np.int64),
        new_width=np.zeros(most + 1, dtype=np.int64),
        new_cells=np.zeros(most + 1),
        queue=whole[0],
        tried=whole[1],
        near=whole[2],
        distance=whole[3],
        parent=whole[4],
        path=whole[5],
        searches=np.zeros(1, dtype=np.int64),
    )


@array_inner
def _own_bucket(problem: Columns, free: FreeSet, v: int, most_cells: float) -> bool:
    """Write the neighbours of v in the set to the first new bucket; whether their table fits."""
    row, width, cells = free.new_bucket[0], 0, 1.0
    for place in range(problem.incident_start[v], problem.incident_start[v + 1]):
        f = problem.factor[problem.incident[place]]
        for entry in range(problem.scope_start[f], problem.scope_start[f + 1]):
            p = free.position[problem.variable[entry]]
            if p < 0:
                continue
            at = 0
            while at < width and row[at] > p:
                at += 1
            if at < width and row[at] == p:
                continue
            cells *= problem.sizes[problem.variable[entry]]
            if width == WIDEST or cells > most_cells:
                return False
            for k in range(width, at, -1):
                row[k] = row[k - 1]
            row[at] = p
            width += 1
    free.new_width[0], free.new_cells[0] = width, cells
    return True


@array_inner
def _united(problem: Columns, free: FreeSet, step: int, most_cells: float) -> int:
    """Unite new bucket `step`, less its latest variable p, with the bucket of p, as the next new bucket.

    Returns 1 if that changes the bucket of p, 0 if not, −1 if its table does not fit.
    """
    upper, own, row = free.new_bucket[step], free.bucket[free.new_bucket[step, 0]], free.new_bucket[step + 1]
    upper_width, own_width = free.new_width[step], free.width[upper[0]]
    i, j, width, cells, changed = 1, 0, 0, 1.0, 0
    while i < upper_width or j < own_width:
        if i == upper_width or (j < own_width and own[j] > upper[i]):
            member = own[j]
            j += 1
        elif j == own_width or upper[i] > own[j]:
            member, changed = upper[i], 1
            i += 1
        else:
            member = own[j]
            i, j = i + 1, j + 1
        cells *= problem.sizes[free.order[member]]
        if width == WIDEST or cells > most_cells:
            return -1
        row[width] = member
        width += 1
    free.new_width[step + 1], free.new_cells[step + 1] = width, cells
    return changed


@array_inner
def add(problem: Columns, free: FreeSet, v: int, most_cells: float, cells_left: float) -> float:
    """Add v to the set; returns the cells that this adds to all tables, −1 if it would exceed a budget."""
    count = free.size[0]
    if count == len(free.order) or not _own_bucket(problem, free, v, most_cells):
        return -1.0
    added, step = free.new_cells[0], 0
    free.changed[0] = count
    while free.new_width[step] > 0:
        changed = _united(problem, free, step, most_cells)
        if changed < 0:
            return -1.0
        if changed == 0:
            break
        place = free.new_bucket[step, 0]
        step += 1
        if step == len(free.changed):
            return -1.0
        free.changed[step] = place
        added += free.new_cells[step] - free.cells[place]
    if added > cells_left:
        return -1.0
    free.order[count], free.position[v], free.size[0] = v, count, count + 1
    for k in range(step + 1):
        place = free.changed[k]
        free.width[place], free.cells[place] = free.new_width[k], free.new_cells[k]
        for a in range(free.new_width[k]):
            free.bucket[place, a] = free.new_bucket[k, a]
    return float(added)


@array_inner
def _clear(free: FreeSet) -> None:
    for place in range(free.size[0]):
        free.position[free.order[place]] = -1
    free.size[0] = 0


@array_kernel
def grow_region(
    problem: Columns,
    free: FreeSet,
    seed: int,
    most: int,
    randomly: bool,
    most_cells: float,
    all_cells: float,
    random: Any,
) -> float:
    """Grow a set of up to `most` variables around one, breadth first or `randomly`; returns the cells of its tables.

    It ends after 100 rejected variables in a row.
    """
    _clear(free)
    free.searches[0] += 1
    search, left, rejected = free.searches[0], all_cells, 0
    free.queue[0], free.tried[seed] = seed, search
    head, tail = 0, 1
    while head < tail and rejected < 100 and free.size[0] < most:
        if randomly:
            chosen = head + below(random, tail - head)
            free.queue[head], free.queue[chosen] = free.queue[chosen], free.queue[head]
        v = free.queue[head]
        head += 1
        added = add(problem, free, v, most_cells, left)
        if added < 0:
            rejected += 1
            continue
        left, rejected = left - added, 0
        for place in range(problem.incident_start[v], problem.incident_start[v + 1]):
            f = problem.factor[problem.incident[place]]
            for entry in range(problem.scope_start[f], problem.scope_start[f + 1]):
                u = problem.variable[entry]
                if free.tried[u] != search:
                    free.tried[u] = search
                    free.queue[tail] = u
                    tail += 1
    return all_cells - left


@array_kernel
def reach(problem: Columns, free: FreeSet, seed: int, most: int, random: Any) -> int:
    """Search breadth first from a variable, through its factors from a random one on; returns the number reached.

    Fills `queue` with about `most` variables, or all that are connected, and sets `parent`.
    """
    free.searches[0] += 1
    free.near[seed], free.parent[seed], free.queue[0] = free.searches[0], -1, seed
    head, tail = 0, 1
    while head < tail and tail < most:
        v = free.queue[head]
        head += 1
        begin, end = problem.incident_start[v], problem.incident_start[v + 1]
        turn = below(random, max(1, end - begin))
        for k in range(end - begin):
            f = problem.factor[problem.incident[begin + (k + turn) % (end - begin)]]
            for entry in range(problem.scope_start[f], problem.scope_start[f + 1]):
                u = problem.variable[entry]
                if free.near[u] != free.searches[0]:
                    free.near[u], free.parent[u], free.queue[tail] = free.searches[0], v, u
                    tail += 1
    return tail


@array_kernel
def grow_strip(
    problem: Columns, free: FreeSet, seed: int, radius: int, most_cells: float, all_cells: float, random: Any
) -> float:
    """Grow a set of variables within `radius` of a shortest path from a variable; returns the cells of its tables.

    The path ends at a random one of the 10,000 nearest variables.
    """
    _clear(free)
    v, length = free.queue[below(random, reach(problem, free, seed, 10_000, random))], 0
    while v >= 0:
        free.path[length] = v
        length += 1
        v = free.parent[v]
    strip, left = free.searches[0], all_cells
    for step in range(length):
        free.searches[0] += 1
        search, start = free.searches[0], free.path[step]
        free.queue[0], free.near[start], free.distance[start] = start, search, 0
        head, tail = 0, 1
        while head < tail:
            v = free.queue[head]
            head += 1
            if free.tried[v] < strip:
                free.tried[v] = search
                left -= max(0.0, add(problem, free, v, most_cells, left))
            if free.distance[v] == radius or tail > 1000:
                continue
            for place in range(problem.incident_start[v], problem.incident_start[v + 1]):
                f = problem.factor[problem.incident[place]]
                for entry in range(problem.scope_start[f], problem.scope_start[f + 1]):
                    u = problem.variable[entry]
                    if free.near[u] != search:
                        free.near[u], free.distance[u], free.queue[tail] = search, free.distance[v] + 1, u
                        tail += 1
    return all_cells - left
