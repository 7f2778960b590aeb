"""Elimination orders: how narrow a problem is, and in which order to eliminate its variables.

Eliminating a variable connects its neighbours; the induced width of an order is the largest number of neighbours
met. Exact elimination takes time and memory exponential in it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.elimination import ordering as compiled
from dabp.problem import Problem
from dabp.problem.columns import offsets_of
from dabp.problem.guard import Guard

DENSE_LIMIT = 5_000
"""Vertices up to which min-fill runs (its bit matrix takes n²/8 bytes)."""

DEGREE_LIMIT = 64
"""Above `DENSE_LIMIT`, vertices of degree up to this are eliminated by least degree first."""


@dataclass(frozen=True)
class EliminationOrder:
    """An order, first eliminated first, and its induced width (None where it was not followed to the end)."""

    order: NDArray[np.int64]
    width: int | None


def edges(problem: Problem) -> NDArray[np.int64]:
    """The pairs of variables that share a factor, [E, 2] with the smaller first; variables with one value left out."""
    n = problem.num_variables
    several = problem.domain_sizes > 1
    keys = [np.zeros(0, dtype=np.int64)]
    for group in problem.arity_groups:
        for i in range(group.variables.shape[1]):
            for j in range(i + 1, group.variables.shape[1]):
                a, b = group.variables[:, i], group.variables[:, j]
                both = several[a] & several[b]
                keys.append(np.unique(np.minimum(a, b)[both] * n + np.maximum(a, b)[both]))
    unique = np.unique(np.concatenate(keys))
    return np.stack([unique // max(n, 1), unique % max(n, 1)], axis=1)


def elimination_order(problem: Problem, *, widest: int | None = None, guard: Guard | None = None) -> EliminationOrder:
    """A min-fill order: exact on forests, linear there, and min-fill on what remains when leaves are gone.

    Once wider than `widest`, the rest of the order is arbitrary: it is of no use then to who asks so. Of more than
    `DENSE_LIMIT` remaining variables those of small degree go first by least degree, and if still too
    many remain, these follow in order of their degree without a width. Computed once for each problem.
    """
    known = problem.derived(_known_orders)
    complete = known.get(None)
    if complete is not None and (widest is None or (complete.width is not None and complete.width <= widest)):
        return complete
    if widest not in known:
        found = _computed(problem, widest, guard)
        if guard is not None and guard.over:
            return found
        known[widest] = found
    return known[widest]


def _known_orders(problem: Problem) -> dict[int | None, EliminationOrder]:
    """The orders found for this problem so far, by the width at which they were given up."""
    return {}


def _computed(problem: Problem, widest: int | None, guard: Guard | None) -> EliminationOrder:
    n = problem.num_variables
    pairs = edges(problem)
    offsets, neighbours = _rows(pairs, n)
    order = np.empty(n, dtype=np.int64)
    count = compiled.peel(offsets, neighbours, order)
    width = 0 if len(pairs) == 0 else 1
    core = np.ones(n, dtype=bool)
    core[order[:count]] = False
    rest = np.flatnonzero(core)
    inside = pairs[core[pairs].all(axis=1)]
    if len(rest) > DENSE_LIMIT:
        first, degree, inside = _least_degree(rest, inside, widest, guard)
        order[count : count + len(first)] = first
        count, width = count + len(first), max(width, degree)
        core[first] = False
        rest = np.flatnonzero(core)
    if len(rest) > DENSE_LIMIT:
        order[count:] = rest[np.argsort(np.bincount(inside.ravel(), minlength=n)[rest], kind="stable")]
        return EliminationOrder(order, None)
    if len(rest):
        number = np.zeros(n, dtype=np.int64)
        number[rest] = np.arange(len(rest))
        bits = _bit_rows(number[inside], len(rest))
        local = np.empty(len(rest), dtype=np.int64)
        width = max(width, compiled.min_fill(bits, local, len(rest) if widest is None else widest))
        order[count:] = rest[local]
    return EliminationOrder(order, width)


def _rows(pairs: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compressed rows of a graph given by its edges."""
    sources, targets = np.concatenate([pairs, pairs[:, ::-1]]).T
    offsets = offsets_of(np.bincount(sources, minlength=n))
    return offsets, np.ascontiguousarray(targets[np.argsort(sources, kind="stable")])


def _bit_rows(pairs: NDArray[np.int64], n: int) -> NDArray[np.uint64]:
    rows = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    for a, b in (pairs.T, pairs.T[::-1]):
        np.bitwise_or.at(rows, (a, b >> 6), np.uint64(1) << (b & 63).astype(np.uint64))
    return rows


def _least_degree(
    vertices: NDArray[np.int64], pairs: NDArray[np.int64], widest: int | None, guard: Guard | None
) -> tuple[list[int], int, NDArray[np.int64]]:
    """Eliminate by least degree until few vertices are left or all are of high degree.

    Returns the eliminated vertices in order, the width so far and the edges that remain.
    """
    near: dict[int, set[int]] = {v: set() for v in vertices.tolist()}
    for a, b in pairs.tolist():
        near[a].add(b)
        near[b].add(a)
    heap = [(len(others), v) for v, others in near.items()]
    heapq.heapify(heap)
    order: list[int] = []
    width = 0
    while len(near) > DENSE_LIMIT:
        degree, v = heapq.heappop(heap)
        if v not in near or degree != len(near[v]):
            continue  # an old entry
        if degree > (DEGREE_LIMIT if widest is None else min(widest, DEGREE_LIMIT)):
            break
        if guard is not None and len(order) % 256 == 0 and guard.over:
            break
        others = near.pop(v)
        order.append(v)
        width = max(width, degree)
        for u in others:
            near[u] |= others
            near[u] -= {u, v}
            heapq.heappush(heap, (len(near[u]), u))
    remaining = [(a, b) for a, others in near.items() for b in others if a < b]
    return order, width, np.array(remaining, dtype=np.int64).reshape(-1, 2)
