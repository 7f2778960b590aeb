"""How fast memory is, and how much of it an iteration moves."""

from __future__ import annotations

import time

import numpy as np

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
    """What an iteration of min-sum has to read and write, were nothing kept in caches between its two stages.

    Factors: tables (shared ones once), positions, v2f read, f2v written. Variables: f2v read, v2f read and written,
    damping and scales, unary costs, mask and field, offsets; the field is written if it is reinforced.
    """
    layout, memory = engine.layout, engine.memory
    tables = layout.tables.nbytes
    places = sum(array.nbytes for array in (*layout.pairs, *layout.many))
    messages = memory.v2f.nbytes
    variables = sum(array.nbytes for array in layout.variables) + memory.damping.nbytes
    variables += memory.field.nbytes * (2 if reinforced else 1) + memory.assignment.nbytes + memory.moved.nbytes
    return tables + places + 5 * messages + variables
