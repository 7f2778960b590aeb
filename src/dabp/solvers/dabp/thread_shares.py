"""Work of compiled kernels shared among threads, each of which writes its own part.

Results do not depend on the number of threads.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

Parts = list[tuple[int, int]]
"""First and last (excluded) item of each thread's share."""
SHORT_NANOSECONDS = 5e4
"""Waking a thread for less work than this takes longer than the work."""


class Threads:
    """Runs the parts of kernels on up to `count` threads, the caller's included."""

    def __init__(self, count: int):
        self.count = count
        self._pool = ThreadPoolExecutor(count - 1) if count > 1 else None

    def run(self, parts: Parts, kernel: Callable[..., None], *arguments: Any) -> None:
        """Call ``kernel(first, last, *arguments)`` for each part, and return when all are done."""
        others = [self._pool.submit(kernel, *part, *arguments) for part in parts[1:]] if self._pool is not None else []
        try:
            if parts:
                kernel(*parts[0], *arguments)
        finally:
            wait(others)
        for other in others:
            other.result()

    def close(self) -> None:
        """End the threads, once their work is done."""
        if self._pool is not None:
            self._pool.shutdown()


def even_shares(work: NDArray[np.float64], threads: int) -> Parts:
    """Consecutive parts of about equal work, at most as many as threads; fewer if that would make them short.

    `work` is about nanoseconds, measured on random COPs with 60 variables.
    """
    total = np.concatenate([[0.0], np.cumsum(work)])
    count = int(np.clip(total[-1] / SHORT_NANOSECONDS, 1, threads))
    bounds = np.searchsorted(total, np.linspace(0.0, total[-1], count + 1))
    bounds[0], bounds[-1] = 0, len(work)
    return [(first, last) for first, last in pairwise(bounds.tolist()) if last > first]
