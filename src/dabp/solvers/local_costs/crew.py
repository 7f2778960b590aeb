"""The threads that sweep together for one search."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dabp.graph.grouping import grouped
from dabp.kernels.atomics import APART, zeros_apart
from dabp.kernels.local_search.shared_sweep import MOVE, REPORT, Crew
from dabp.problem.columns import Indices, offsets_of
from dabp.solvers.trials import Trials

Part = Callable[[Crew, Any, int, int], int]
"""A kernel for a thread's part of sweeps from a stage on, with edges sorted for that; returns the stage reached."""
Arranged = Callable[[Indices], Any]
"""A kernel's edges in another order."""

OFFER_EDGES = 4
"""Resampling a variable takes about as long as updating its row after the moves of this many neighbours."""


class Sweepers:
    """Threads that do sweeps together, or one of them alone where that is faster; this changes nothing but time.

    Parameters
    ----------
    starts
        Where classes begin (`colouring.Classes`).
    edges
        The edges of each variable, sorted by the other variable (`offsets`, `target`), as kernels read them.
    violable
        How many factors may be violated.
    threads
        How many may work at once.
    arranged
        The edges in another order.
    """

    def __init__(self, starts: Indices, edges: Any, violable: int, threads: int, arranged: Arranged):
        self._alone = _crew(starts, edges.offsets, violable, 1), edges
        self._all = self._alone
        if threads > 1:
            crew = _crew(starts, edges.offsets, violable, threads)
            source = np.repeat(np.arange(len(crew.owner)), np.diff(edges.offsets))
            order, bounds = grouped(source * threads + crew.owner[edges.target], len(crew.owner) * threads)
            self._all = crew._replace(bounds=bounds), arranged(order)
        self._threads, self._stages = threads, 2 * (len(starts) - 1)
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._trials = Trials()

    def sweep(self, part: Part, sweeps: int) -> None:
        """Do as many sweeps."""
        if self._pool is None:
            self._run(part, *self._alone, sweeps, 0)
            return
        with self._trials.turn(sweeps) as together:
            if together:
                self._together(part, sweeps, self._pool)
            else:
                self._run(part, *self._alone, sweeps, 0)

    def _together(self, part: Part, sweeps: int, pool: ThreadPoolExecutor) -> None:
        crew, edges = self._all
        crew.done[:] = 0
        others = [pool.submit(self._run, part, crew, edges, sweeps, k) for k in range(1, self._threads)]
        try:
            self._run(part, crew, edges, sweeps, 0)
        except BaseException:  # interrupted: no thread shall wait for this one any more
            crew.done[0] = np.iinfo(np.int64).max
            raise
        finally:
            for other in others:
                other.result()

    def close(self) -> None:
        """End the threads that sweep together."""
        if self._pool is not None:
            self._pool.shutdown()

    def _run(self, part: Part, crew: Crew, edges: Any, sweeps: int, thread: int) -> None:
        """A thread's part; after each long wait other threads get its core."""
        stage, stages = 0, sweeps * self._stages
        while (stage := part(crew, edges, stage, thread)) < stages:
            time.sleep(0)


def _crew(starts: Indices, offsets: Indices, violable: int, threads: int) -> Crew:
    """What threads share: parts of each class with about as many edges each; `bounds` of a single thread."""
    count = len(offsets) - 1
    work = offsets_of(np.diff(offsets) + OFFER_EDGES)
    parts = work[starts[:-1], None] + np.diff(work[starts])[:, None] * np.arange(threads) // threads
    first = np.append(np.searchsorted(work, parts.ravel()), count)
    owner = np.repeat(np.tile(np.arange(threads), len(starts) - 1), np.diff(first))
    return Crew(
        first=first,
        owner=owner.astype(np.int32),
        bounds=offsets,
        moved=np.zeros(count, dtype=MOVE),
        shared=np.zeros(count if threads > 1 else 0, dtype=MOVE),
        violations=np.zeros(threads * violable, dtype=np.int64),
        reports=zeros_apart(threads, REPORT),
        done=zeros_apart(threads * APART),
    )
