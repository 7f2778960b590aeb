"""Threads that do the sweeps of one search together."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import NDArray

from dabp.kernels.local_search.together import APART, Crew
from dabp.problem.columns import Indices, offsets_of

Part = Callable[[Crew, int, int], int]
"""A kernel that does a thread's part of sweeps from a stage on: gives the stage that it came to."""

TRIALS, TRY_EVERY = (True, False, True), 24
"""Whether sweeps are in threads when both ways are tried, and after how many calls they are tried again: on a busy
machine threads wait for each other's cores."""


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
    """

    def __init__(self, starts: Indices, offsets: Indices, target: NDArray[np.integer], violable: int, threads: int):
        self._alone = _crew(starts, offsets, target, violable, 1)
        self._all = self._alone if threads == 1 else _crew(starts, offsets, target, violable, threads)
        self._threads = threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None
        self._calls, self._seconds = 0, {True: np.inf, False: np.inf}

    def sweep(self, part: Part, sweeps: int) -> None:
        """So many sweeps."""
        if self._pool is None:
            self._run(part, self._alone, sweeps, 0)
            return
        trial = self._calls % TRY_EVERY
        together = TRIALS[trial] if trial < len(TRIALS) else self._seconds[True] < self._seconds[False]
        self._calls += 1
        started = time.perf_counter()
        if together:
            self._together(part, sweeps, self._pool)
        else:
            self._run(part, self._alone, sweeps, 0)
        self._seconds[together] = (time.perf_counter() - started) / sweeps

    def _together(self, part: Part, sweeps: int, pool: ThreadPoolExecutor) -> None:
        """Sweeps in threads."""
        self._all.done[:] = 0
        others = [pool.submit(self._run, part, self._all, sweeps, k) for k in range(1, self._threads)]
        try:
            self._run(part, self._all, sweeps, 0)
        except BaseException:  # interrupted: nobody shall wait for this thread any more
            self._all.done[0] = np.iinfo(np.int64).max
            raise
        finally:
            for other in others:
                other.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()

    @staticmethod
    def _run(part: Part, crew: Crew, sweeps: int, thread: int) -> None:
        """A thread's part; where it had to wait for long it lets others have its core."""
        stage, stages = 0, sweeps * (2 * len(crew.classes) - 1)
        while (stage := part(crew, stage, thread)) < stages:
            time.sleep(0)


def _crew(starts: Indices, offsets: Indices, target: NDArray[np.integer], violable: int, threads: int) -> Crew:
    """What threads share; each has a part of the variables with about as many edges as the others'."""
    count = len(offsets) - 1
    work = offsets_of(np.diff(offsets) + 1)
    own = np.searchsorted(work, work[-1] * np.arange(threads + 1) // threads)
    splits = [np.zeros(0, dtype=np.int64)]
    for first in own[1:-1]:
        before = offsets_of(target < first)
        splits.append(before[offsets[1:]] - before[offsets[:-1]])
    return Crew(
        classes=starts,
        own=own,
        splits=np.concatenate(splits).astype(np.int32),
        moved=np.zeros(count, dtype=np.int32),
        before=np.zeros(count, dtype=np.int32),
        flips=np.zeros(threads * violable, dtype=np.int64),
        told=np.zeros(threads * APART, dtype=np.int64),
        done=np.zeros(threads * APART, dtype=np.int64),
        copies=np.zeros(1, dtype=np.int64),
    )
