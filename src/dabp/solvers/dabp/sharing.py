"""Work of compiled kernels shared among threads, each of which writes its own part.

Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Parts = list[tuple[int, int]]
"""First and last (excluded) item of each thread's share."""
SHORT = 5e4
"""Nanoseconds: waking a thread for less than this takes longer than the work."""


class Job(NamedTuple):
    """A kernel to be called as ``kernel(first, last, *arguments)`` for each part."""

    parts: Parts
    kernel: Callable[..., None]
    arguments: tuple[Any, ...]


class Threads:
    """So many kernels run at once."""

    def __init__(self, count: int):
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1) if count > 1 else None

    def run(self, *jobs: Job) -> None:
        """A thread takes its part of every job; jobs that are given together must not wait for each other."""
        waiting = []
        for turn in range(1, max(len(job.parts) for job in jobs)):
            assert self._pool is not None
            waiting.append(self._pool.submit(_turn, turn, jobs))
        _turn(0, jobs)
        for future in waiting:
            future.result()

    def close(self) -> None:
        """End the threads."""
        if self._pool is not None:
            self._pool.shutdown()


def _turn(turn: int, jobs: Iterable[Job]) -> None:
    for job in jobs:
        if turn < len(job.parts):
            job.kernel(*job.parts[turn], *job.arguments)


def even_shares(work: NDArray[np.float64], threads: int) -> Parts:
    """Consecutive parts of about equal work, at most as many as threads; fewer if that would make them short.

    `work` is about nanoseconds, measured on random COPs with 60 variables.
    """
    total = np.concatenate([[0.0], np.cumsum(work)])
    count = int(np.clip(total[-1] / SHORT, 1, threads))
    bounds = np.searchsorted(total, np.linspace(0.0, total[-1], count + 1))
    bounds[0], bounds[-1] = 0, len(work)
    return [(first, last) for first, last in pairwise(bounds.tolist()) if last > first]
