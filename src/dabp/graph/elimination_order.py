"""Elimination orders: how narrow a problem is, and in which order to eliminate its variables.

Eliminating a variable connects its neighbours; the induced width of an order is the largest number of neighbours
met. Exact elimination takes time and memory exponential in it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.elimination import ordering as compiled
from dabp.problem import Problem
from dabp.problem.columns import distinct, offsets_of
from dabp.problem.facts import structural
from dabp.problem.guard import Guard

DENSE_LIMIT = 5_000
"""Vertices up to which min-fill runs (its bit matrix takes n²/8 bytes)."""

DEGREE_LIMIT = 64
"""Above `DENSE_LIMIT`, vertices of degree up to this are eliminated by least degree first."""

WORK_PER_SECOND = 200_000_000
"""Operations of the kernels in a second."""
BETWEEN_LOOKS = WORK_PER_SECOND // 10
"""Operations between two looks at the guard."""


@dataclass(frozen=True)
class EliminationOrder:
    """An order, first eliminated first, and its induced width (None where it is not known)."""

    order: NDArray[np.int64]
    width: int | None


def edges(problem: Problem) -> NDArray[np.int64]:
    """The pairs of variables that share a factor, [E, 2] with the smaller first; variables with one value left out."""
    n = problem.num_variables
    several = problem.domain_sizes > 1
    keys = [np.zeros(0, dtype=np.int64)]
    for group in problem.facts.arity_groups:
        for i in range(group.variables.shape[1]):
            for j in range(i + 1, group.variables.shape[1]):
                a, b = group.variables[:, i], group.variables[:, j]
                both = several[a] & several[b]
                keys.append(distinct(np.minimum(a, b)[both] * n + np.maximum(a, b)[both]))
    unique = distinct(np.concatenate(keys))
    return np.stack([unique // max(n, 1), unique % max(n, 1)], axis=1)


def elimination_order(problem: Problem, *, widest: int | None = None, guard: Guard | None = None) -> EliminationOrder:
    """A narrow order: leaves first, which is exact on forests; then min-fill or a sweep, whichever is narrower.

    Where both are wider than `widest`, the rest of the order is arbitrary. Of more than `DENSE_LIMIT` remaining
    variables those of small degree go before min-fill by least degree; if still too many remain, or the guard ends
    it, a sweep is left, or the rest follows in any order and the width is None. Computed once for problems of one
    structure.
    """
    known = structural(problem, _known_orders)
    complete = known.get(None)
    if complete is not None and (widest is None or (complete.width is not None and complete.width <= widest)):
        return complete
    if widest in known:
        return known[widest]
    n, guard = problem.num_variables, guard or Guard()
    if guard.over:
        return EliminationOrder(np.arange(n), None)
    pairs = edges(problem)
    found, finished = _filled_order(problem, pairs, widest, guard)
    if found.width is None or found.width > 1:
        swept, width = _swept_order(n, pairs)
        if width < (found.width or n) and width <= (widest or n):
            found = EliminationOrder(swept, width)
    if finished:
        known[widest] = found
    return found


def _known_orders(problem: Problem) -> dict[int | None, EliminationOrder]:
    """The orders found for this structure, by `widest`."""
    return {}


def _swept_order(n: int, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    """Leaves, then the others as a sweep through the graph meets them; and a width that it does not exceed."""
    order = np.empty(n, dtype=np.int64)
    count = compiled.peel(*_rows(pairs, n), 1, order)
    core = np.ones(n, dtype=bool)
    core[order[:count]] = False
    rest, number = np.flatnonzero(core), np.cumsum(core) - 1
    swept = np.empty(len(rest), dtype=np.int64)
    width = compiled.sweep(*_rows(number[pairs[core[pairs].all(axis=1)]], len(rest)), swept)
    order[count:] = rest[swept]
    return order, max(int(width), int(len(pairs) > 0))


def _filled_order(
    problem: Problem, pairs: NDArray[np.int64], widest: int | None, guard: Guard
) -> tuple[EliminationOrder, bool]:
    """An order by min-fill, and whether the guard did not stop it."""
    n = problem.num_variables
    offsets, neighbours = _rows(pairs, n)
    order = np.empty(n, dtype=np.int64)
    count = compiled.peel(offsets, neighbours, 1, order)
    width = 0 if len(pairs) == 0 else 1
    core = np.ones(n, dtype=bool)
    core[order[:count]] = False
    inside = pairs[core[pairs].all(axis=1)]
    work = int(min(guard.seconds_left, 600.0) * WORK_PER_SECOND)
    hopeless = widest is not None and compiled.peel(*_rows(inside, n), widest, np.empty(n, dtype=np.int64)) < n
    if not hopeless and int(core.sum()) > DENSE_LIMIT:
        most = DEGREE_LIMIT if widest is None else min(widest, DEGREE_LIMIT)
        rest_order = np.empty(n, dtype=np.int64)
        gone, degree, near = compiled.least_degree(*_rows(inside, n), DENSE_LIMIT, most, work, rest_order)
        if gone < 0:
            order[count:] = np.flatnonzero(core)
            return EliminationOrder(order, None), False
        order[count : count + gone] = rest_order[:gone]
        count, width = count + gone, max(width, degree)
        core[rest_order[:gone]] = False
        inside = _pairs(near, core)
    rest = np.flatnonzero(core)
    dense = len(rest) * float(len(inside)) / 32 > work  # bits that are looked at to begin with
    if hopeless or len(rest) > DENSE_LIMIT or dense or guard.over:
        order[count:] = rest[np.argsort(np.bincount(inside.ravel(), minlength=n)[rest], kind="stable")]
        return EliminationOrder(order, None), not (dense or guard.over)
    if len(rest):
        number = np.zeros(n, dtype=np.int64)
        number[rest] = np.arange(len(rest))
        local = np.empty(len(rest), dtype=np.int64)
        most = len(rest) if widest is None else widest
        found = _filled(_bit_rows(number[inside], len(rest)), local, most, guard)
        order[count:] = rest[local]
        if found is None:
            return EliminationOrder(order, None), False
        width = max(width, found)
    return EliminationOrder(order, int(width)), True


def _filled(rows: NDArray[np.uint64], order: NDArray[np.int64], most: int, guard: Guard) -> int | None:
    """Write a min-fill order to `order` and return its width; None, with an arbitrary rest, if the guard ended it."""
    n = len(rows)
    nothing = np.zeros((2, n), dtype=np.int64)
    state = compiled.Fill(nothing[0], nothing[1], np.ones(n, dtype=np.bool_), np.zeros(3, dtype=np.int64))
    while not compiled.min_fill(rows, order, most, state, BETWEEN_LOOKS):
        if guard.over:
            order[state.progress[0] :] = np.flatnonzero(state.alive)
            return None
    return int(state.progress[1])


def _pairs(near: compiled.Adjacency, core: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The edges of the vertices that remain, the smaller first."""
    vertices = np.flatnonzero(core)
    lengths = near.length[vertices]
    sources = np.repeat(vertices, lengths)
    starts = offsets_of(lengths)
    targets = near.pool[np.arange(starts[-1]) + np.repeat(near.start[vertices] - starts[:-1], lengths)]
    pairs: NDArray[np.int64] = np.stack([sources, targets], axis=1)[sources < targets]
    return pairs


def _rows(pairs: NDArray[np.int64], n: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compressed rows of a graph given by its edges in order, the smaller vertex first; each row is sorted."""
    sources, targets = np.concatenate([pairs[:, ::-1], pairs]).T
    offsets = offsets_of(np.bincount(sources, minlength=n))
    return offsets, np.ascontiguousarray(targets[np.argsort(sources, kind="stable")])


def _bit_rows(pairs: NDArray[np.int64], n: int) -> NDArray[np.uint64]:
    rows = np.zeros((n, (n + 63) // 64), dtype=np.uint64)
    for a, b in (pairs.T, pairs.T[::-1]):
        np.bitwise_or.at(rows, (a, b >> 6), np.uint64(1) << (b & 63).astype(np.uint64))
    return rows
