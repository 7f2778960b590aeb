"""How fast memory is, how much of it an iteration moves, and how long its messages take to fetch by themselves."""

from __future__ import annotations

import time

import numba
import numpy as np

from dabp.kernels.belief_propagation.message_arrays import EARLY, UNIT
from dabp.kernels.simd import item, prefetch_early
from dabp.solvers.belief_propagation.engine import MinSum

STREAM = 1 << 26
"""Numbers in each array of the stream: 256 MB, far beyond the caches."""


def stream_bandwidth(repetitions: int = 5) -> float:
    """Bytes a second of one thread that adds two arrays into a third: the best of a few passes."""
    first, second, total = (np.ones(STREAM, dtype=np.float32) for _ in range(3))
    best = np.inf
    for _ in range(repetitions):
        start = time.perf_counter()
        np.add(first, second, out=total)
        best = min(best, time.perf_counter() - start)
    return 3 * total.nbytes / best


def bytes_an_iteration(engine: MinSum, reinforced: bool) -> int:
    """What an iteration of min-sum has to read and write, were nothing kept in caches from variable to variable.

    Tables in both orientations (shared ones once), positions, v2f messages of the neighbours and of the variable read,
    new ones written, damping, unary costs, mask and field, offsets, values; the field is written if it is reinforced.
    Pricing, where many values change: scopes, strides, bases and a cost of each factor read, its copy written. Counted
    are the numbers used, not the cache lines around them.
    """
    layout, memory, exact = engine.layout, engine.memory, engine.layout.exact
    arrays = [layout.tables, *layout.pairs, *layout.many, *layout.variables, *3 * [memory.v2f], memory.damping]
    arrays += [memory.field] * (2 if reinforced else 1) + [memory.assignment] * 2 + [memory.moved]
    arrays += [exact.start, exact.variable, exact.stride, exact.base, memory.priced, memory.priced]
    if len(layout.many.table):
        arrays += 2 * [memory.f2v]
    return sum(array.nbytes for array in arrays)


def fetching_seconds(engine: MinSum, repetitions: int = 5) -> float:
    """How long it takes to fetch the messages that an iteration hears, in its order, and do nothing with them."""
    v2f, source = engine.memory.v2f, engine.layout.pairs.source
    best = np.inf
    for _ in range(repetitions + 1):
        start = time.perf_counter()
        _fetch_all(v2f, source)
        best = min(best, time.perf_counter() - start)
    return float(best)


@numba.njit(nogil=True)  # type: ignore[untyped-decorator]
def _fetch_all(v2f: np.ndarray, source: np.ndarray) -> float:
    total = 0.0
    for at in range(len(source) - EARLY):
        prefetch_early(v2f, UNIT * item(source, at + EARLY))
        total += item(v2f, UNIT * item(source, at))
    return total
