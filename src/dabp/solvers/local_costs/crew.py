"""Threads that do the sweeps of one search together."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.graph.grouping import grouped
from dabp.kernels.atomics import APART, zeros_apart
from dabp.kernels.local_search.shared_sweep import Crew
from dabp.problem.columns import Indices, offsets_of
from dabp.solvers.trials import Trials

Part = Callable[[Crew, Any, int, int], int]
"""A kernel that does a thread's part of sweeps from a stage on, with edges sorted for that: gives the stage reached."""
Arranged = Callable[[Indices], Any]
"""A kernel's edges in another order."""

OFFER = 4
"""An offer of a new value takes about as long as telling so many neighbours of a move, of which there are fewer."""


class Sweepers:
    """Threads that do sweeps together, or one of them alone where that is faster; this changes nothing but time.

    Parameters
    ----------
    starts
        Where classes begin (`colouring.Classes`).
    offsets, target
        The edges of each variable, sorted by the other variable.
    violable
        How many factors may be violated.
    threads
        How many may work at once.
    edges, arranged
        The edges as kernels know them, and how to have them in another order.
    """

    def __init__(
        self,
        starts: Indices,
        offsets: Indices,
        target: NDArray[np.integer],
        violable: int,
        threads: int,
        edges: Any,
        arranged: Arranged,
    ):
        self._alone = _crew(starts, offsets, violable, 1), edges
        self._all = self._alone
        if threads > 1:
            crew = _crew(starts, offsets, violable, threads)
            source = np.repeat(np.arange(len(crew.owner)), np.diff(offsets))
            order, bounds = grouped(source * threads + crew.owner[target], len(crew.owner) * threads)
            self._all = crew._replace(bounds=bounds), arranged(order)
        self._threads, self._stages = threads, 2 * len(starts) - 1
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._trials = Trials()

    def sweep(self, part: Part, sweeps: int) -> None:
        """So many sweeps."""
        if self._pool is None:
            self._run(part, *self._alone, sweeps, 0)
            return
        with self._trials.turn(sweeps) as together:
            if together:
                self._together(part, sweeps, self._pool)
            else:
                self._run(part, *self._alone, sweeps, 0)

    def _together(self, part: Part, sweeps: int, pool: ThreadPoolExecutor) -> None:
        """Sweeps in threads."""
        crew, edges = self._all
        crew.done[:] = 0
        others = [pool.submit(self._run, part, crew, edges, sweeps, k) for k in range(1, self._threads)]
        try:
            self._run(part, crew, edges, sweeps, 0)
        except BaseException:  # interrupted: nobody shall wait for this thread any more
            crew.done[0] = np.iinfo(np.int64).max
            raise
        finally:
            for other in others:
                other.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    def _run(self, part: Part, crew: Crew, edges: Any, sweeps: int, thread: int) -> None:
        """A thread's part; where it had to wait for long it lets others have its core."""
        stage, stages = 0, sweeps * self._stages
        while (stage := part(crew, edges, stage, thread)) < stages:
            time.sleep(0)


def _crew(starts: Indices, offsets: Indices, violable: int, threads: int) -> Crew:
    """What threads share; of each class each has a part with about as many edges as the others'.

    The edges of one thread are where they are, those of several are to be sorted.
    """
    count = len(offsets) - 1
    work = offsets_of(np.diff(offsets) + OFFER)
    parts = work[starts[:-1], None] + np.diff(work[starts])[:, None] * np.arange(threads) // threads
    first = np.append(np.searchsorted(work, parts.ravel()), count)
    owner = np.repeat(np.tile(np.arange(threads), len(starts) - 1), np.diff(first))
    return Crew(
        first=first,
        owner=owner.astype(np.int32),
        bounds=offsets,
        moved=np.zeros((count, 3), dtype=np.int32),
        abroad=np.zeros((count if threads > 1 else 0, 3), dtype=np.int32),
        flips=np.zeros(threads * violable, dtype=np.int64),
        told=zeros_apart(threads * APART),
        done=zeros_apart(threads * APART),
        copies=np.zeros(1, dtype=np.int64),
    )
