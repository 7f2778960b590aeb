"""Work of compiled kernels shared among threads, each of which writes its own part.

Results do not depend on the number of threads.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable
from itertools import pairwise
from queue import SimpleQueue
from threading import Thread
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


_Question = tuple[int, tuple[Job, ...]] | None
"""The number of a round and its jobs; None to go."""
_Answer = tuple[int, BaseException | None]
"""The number of the round, and what went wrong."""


class Threads:
    """So many kernels run at once.

    Threads wait at a queue of their own: with `concurrent.futures` waking one takes half as long again.
    """

    def __init__(self, count: int):
        self.count = count
        self._round = 0
        self._done: SimpleQueue[_Answer] = SimpleQueue()
        self._asked: list[SimpleQueue[_Question]] = [SimpleQueue() for _ in range(count - 1)]
        for turn, asked in enumerate(self._asked, 1):
            Thread(target=_work, args=(turn, asked, self._done), daemon=True).start()
        self._end = weakref.finalize(self, _dismiss, self._asked)

    def run(self, *jobs: Job) -> None:
        """A thread takes its part of every job; jobs that are given together must not wait for each other."""
        self._round += 1
        others = max(len(job.parts) for job in jobs) - 1
        for asked in self._asked[:others]:
            asked.put((self._round, jobs))
        try:
            _turn(0, jobs)
        finally:
            errors = [self._wait() for _ in range(others)]
        for error in errors:
            if error is not None:
                raise error

    def _wait(self) -> BaseException | None:
        """Until another thread has done its part of this round; those of a round that was interrupted are passed by."""
        number = 0
        while number != self._round:
            number, error = self._done.get()
        return error

    def close(self) -> None:
        """End the threads."""
        self._end()


def _work(turn: int, asked: SimpleQueue[_Question], done: SimpleQueue[_Answer]) -> None:
    while (question := asked.get()) is not None:
        number, jobs = question
        error: BaseException | None = None
        try:
            _turn(turn, jobs)
        except BaseException as caught:
            error = caught
        done.put((number, error))
        del question, jobs  # what is waited for next would keep the arrays of the last jobs


def _dismiss(asked: list[SimpleQueue[_Question]]) -> None:
    for one in asked:
        one.put(None)


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
