"""Elimination orders, compiled: peeling of leaves, sweeps, least degree, and min-fill."""

from __future__ import annotations

import heapq
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.decorators import inner, kernel
from dabp.kernels.rows import copy_row, grown

ONE = np.uint64(1)


@inner
def popcount(word: Any) -> int:
    """Number of set bits of a uint64."""
    word = word - ((word >> ONE) & np.uint64(0x5555555555555555))
    word = (word & np.uint64(0x3333333333333333)) + ((word >> np.uint64(2)) & np.uint64(0x3333333333333333))
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@inner
def members(row: NDArray[np.uint64], out: NDArray[np.int64]) -> int:
    """Write the positions of the set bits of a row to `out`; returns their number."""
    count = 0
    for w in range(len(row)):
        word = row[w]
        while word:
            lowest = word & (~word + ONE)
            out[count] = w * 64 + popcount(lowest - ONE)
            count += 1
            word ^= lowest
    return count


@inner
def size_without(row: NDArray[np.uint64], other: NDArray[np.uint64]) -> int:
    """The number of bits set in `row` and not in `other`."""
    count = 0
    for w in range(len(row)):
        count += popcount(row[w] & ~other[w])
    return count


@kernel
def peel(offsets: NDArray[np.int64], neighbours: NDArray[np.int64], most: int, order: NDArray[np.int64]) -> int:
    """Remove vertices of degree `most` or less until none is left; fills `order`, returns their number.

    The graph is in compressed rows. With `most` = 1 removals add no edge, so that `order` is an optimal elimination
    order. If vertices remain, every elimination order has a width above `most`.
    """
    n = len(offsets) - 1
    degree = np.empty(n, dtype=np.int64)
    queued = np.zeros(n, dtype=np.bool_)
    count = 0
    for v in range(n):
        degree[v] = offsets[v + 1] - offsets[v]
        if degree[v] <= most:
            order[count] = v
            queued[v] = True
            count += 1
    done = 0
    while done < count:
        v = order[done]
        done += 1
        for place in range(offsets[v], offsets[v + 1]):
            u = neighbours[place]
            degree[u] -= 1
            if degree[u] <= most and not queued[u]:
                order[count] = u
                queued[u] = True
                count += 1
    return count


@kernel
def sweep(offsets: NDArray[np.int64], neighbours: NDArray[np.int64], order: NDArray[np.int64]) -> int:
    """Cuthill-McKee: breadth-first from the rim of each component, in a level by degree; fills `order`.

    The graph is in compressed rows. Returns how many vertices at most are met and not eliminated at a time; the induced
    width of the order is not larger. On a long grid that is its short side, where min-fill is half as wide again.
    """
    n = len(offsets) - 1
    level = np.full(n, -1, dtype=np.int64)
    count = 0
    for start in range(n):
        if level[start] >= 0:
            continue
        root = start
        for _ in range(2):  # the farthest vertex is nearer to the rim
            end = _breadth_first(offsets, neighbours, root, level, order, count)
            farthest = level[order[end - 1]]
            root = order[end - 1]
            for k in range(end - 1, count - 1, -1):
                v = order[k]
                if level[v] == farthest and offsets[v + 1] - offsets[v] < offsets[root + 1] - offsets[root]:
                    root = v
                level[v] = -1
        count = _breadth_first(offsets, neighbours, root, level, order, count)
    met = np.zeros(n, dtype=np.bool_)
    frontier, widest = 0, 0
    for v in order:
        frontier -= met[v]
        met[v] = True
        for place in range(offsets[v], offsets[v + 1]):
            frontier += not met[neighbours[place]]
            met[neighbours[place]] = True
        widest = max(widest, frontier)
    return widest


@inner
def _breadth_first(
    offsets: NDArray[np.int64],
    neighbours: NDArray[np.int64],
    root: int,
    level: NDArray[np.int64],
    order: NDArray[np.int64],
    count: int,
) -> int:
    """Append the component of `root` to `order` at `count`, with the level of each vertex; the new count."""
    order[count], level[root] = root, 0
    done, count = count, count + 1
    while done < count:
        v, first = order[done], count
        done += 1
        for place in range(offsets[v], offsets[v + 1]):
            u = neighbours[place]
            if level[u] < 0:
                level[u] = level[v] + 1
                at = count
                while at > max(first, count - 64) and (  # sorted by degree; of many neighbours only nearly
                    offsets[order[at - 1] + 1] - offsets[order[at - 1]] > offsets[u + 1] - offsets[u]
                ):
                    order[at] = order[at - 1]
                    at -= 1
                order[at] = u
                count += 1
    return count


class Fill(NamedTuple):
    """The state of a min-fill order."""

    fill: NDArray[np.int64]
    """[n]: edges missing between the neighbours of each vertex."""
    degree: NDArray[np.int64]
    """[n]."""
    alive: NDArray[np.bool_]
    """[n]: not in the order yet."""
    progress: NDArray[np.int64]
    """Vertices in the order, the width so far, and the vertices whose fill was counted."""


@kernel
def min_fill(rows: NDArray[np.uint64], order: NDArray[np.int64], widest: int, state: Fill, work: int) -> bool:
    """Min-fill order of a graph given as bit rows [n, ⌈n / 64⌉], which are overwritten; returns whether it is complete.

    Ties go to the smaller degree, then the smaller index. The fill count of a vertex v, the number of missing edges
    between its neighbours, is kept up to date: a new edge ab takes 1 from each common neighbour of a and b and adds
    |N(a) − N(b)| to a; a removed v takes |N(u) − N[v]| from each neighbour u. Once the width is above `widest`,
    the remaining vertices follow as they come. After about `work` operations it returns, to be called again.
    """
    fill, degree, alive, progress = state
    n, words = rows.shape
    near = np.empty(n, dtype=np.int64)
    missing = np.empty(n, dtype=np.int64)
    row = np.empty(words, dtype=np.uint64)
    spent = 0
    while progress[2] < n and spent < work:
        v = progress[2]
        degree[v] = members(rows[v], near)
        for k in range(degree[v]):
            fill[v] += size_without(rows[v], rows[near[k]]) - 1
        fill[v] //= 2
        progress[2] += 1
        spent += 4 * (degree[v] + 1) * words
    while progress[0] < n and spent < work:
        v = -1
        for u in range(n):
            if alive[u] and (v < 0 or fill[u] < fill[v] or (fill[u] == fill[v] and degree[u] < degree[v])):
                v = u
        order[progress[0]] = v
        progress[0] += 1
        alive[v] = False
        count = members(rows[v], near)
        progress[1] = max(progress[1], count)
        if progress[1] > widest:
            for u in range(n):
                if alive[u]:
                    order[progress[0]] = u
                    progress[0] += 1
            return True
        for k in range(count):
            a = near[k]
            for w in range(words):
                row[w] = rows[v, w] & ~rows[a, w]
            for j in range(members(row, missing)):
                b = missing[j]
                if b > a:
                    _connect(rows, a, b, fill, degree)
                    spent += 8 * words
        for k in range(count):
            u = near[k]
            fill[u] -= size_without(rows[u], rows[v]) - 1
            degree[u] -= 1
            rows[u, v >> 6] &= ~(ONE << np.uint64(v & 63))
        spent += n + 4 * count * words
    return bool(progress[0] == n)


@inner
def _connect(rows: NDArray[np.uint64], a: int, b: int, fill: NDArray[np.int64], degree: NDArray[np.int64]) -> None:
    fill[a] += size_without(rows[a], rows[b])
    fill[b] += size_without(rows[b], rows[a])
    for w in range(rows.shape[1]):
        word = rows[a, w] & rows[b, w]
        while word:
            lowest = word & (~word + ONE)
            fill[w * 64 + popcount(lowest - ONE)] -= 1
            word ^= lowest
    rows[a, b >> 6] |= ONE << np.uint64(b & 63)
    rows[b, a >> 6] |= ONE << np.uint64(a & 63)
    degree[a] += 1
    degree[b] += 1


class Adjacency(NamedTuple):
    """Sorted neighbours of each vertex in one pool, with unused places."""

    start: NDArray[np.int64]
    """[N]: the first of a vertex's neighbours in `pool`."""
    length: NDArray[np.int64]
    """[N]: the number of neighbours."""
    places: NDArray[np.int64]
    """[N]: places for them."""
    pool: NDArray[np.int64]


@inner
def _united(near: Adjacency, end: int, u: int, others: NDArray[np.int64], v: int) -> Any:
    """Give u the `others` as neighbours and remove v; returns the adjacency, perhaps larger, and its pool's end."""
    begin, count = near.start[u], near.length[u]
    merged = np.empty(count + len(others), dtype=np.int64)
    i, j, size = 0, 0, 0
    while i < count or j < len(others):
        if j == len(others) or (i < count and near.pool[begin + i] <= others[j]):
            if j < len(others) and near.pool[begin + i] == others[j]:
                j += 1
            chosen = near.pool[begin + i]
            i += 1
        else:
            chosen = others[j]
            j += 1
        if chosen not in (u, v):
            merged[size] = chosen
            size += 1
    if size > near.places[u]:
        near.places[u] = 2 * size
        near.start[u] = end
        end += 2 * size
        near = Adjacency(near.start, near.length, near.places, grown(near.pool, end))
    copy_row(merged, size, near.pool, near.start[u])
    near.length[u] = size
    return near, end


@kernel
def least_degree(
    offsets: NDArray[np.int64], neighbours: NDArray[np.int64], left: int, most: int, work: int, order: NDArray[np.int64]
) -> Any:
    """Eliminate by least degree, then least index, until `left` vertices remain, or all have a degree above `most`.

    The graph is in compressed rows, each sorted; vertices without neighbours are not part of it. Fills `order`.

    Returns
    -------
    count, width, near
        The number of eliminated vertices, the largest degree met, and the graph that remains. `count` is −1 after more
        than `work` operations.
    """
    n = len(offsets) - 1
    degrees = offsets[1:] - offsets[:-1]
    near = Adjacency(offsets[:-1].copy(), degrees.copy(), degrees.copy(), neighbours.copy())
    end, alive, heap = len(neighbours), np.zeros(n, dtype=np.bool_), [(np.int64(0), np.int64(0))]
    heap.pop()  # it is there for its type
    remaining = 0
    for vertex in range(n):
        if degrees[vertex]:
            alive[vertex] = True
            remaining += 1
            heap.append((degrees[vertex], np.int64(vertex)))
    heapq.heapify(heap)
    count, width = 0, 0
    while remaining > left and len(heap):
        degree, v = heapq.heappop(heap)
        if not alive[v] or degree != near.length[v]:
            continue  # an old entry
        if degree > most:
            break
        others = near.pool[near.start[v] : near.start[v] + degree].copy()
        alive[v] = False
        remaining -= 1
        near.length[v] = 0
        order[count] = v
        count, width = count + 1, max(width, len(others))
        for u in others:
            work -= int(near.length[u]) + len(others)
            near, end = _united(near, end, u, others, v)
            heapq.heappush(heap, (near.length[u], u))
        if work < 0:
            return -1, width, near
    return count, width, near
