"""Work is shared among threads evenly, and only where that pays."""

from __future__ import annotations

import contextlib
from threading import Event, Thread, active_count
from time import sleep

import numpy as np
import pytest

from dabp.solvers.dabp.thread_shares import Job, Threads, even_shares


def test_short_work_is_not_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts cover all items once; there are fewer than threads where each would be too short to wake one for."""
    monkeypatch.setattr("dabp.solvers.dabp.thread_shares.SHORT_NANOSECONDS", 1e-3)
    assert even_shares(np.full(10, 1.0), 3) == [(0, 4), (4, 7), (7, 10)]
    assert even_shares(np.array([90.0, 1.0, 1.0, 90.0]), 2) == [(0, 2), (2, 4)]
    monkeypatch.setattr("dabp.solvers.dabp.thread_shares.SHORT_NANOSECONDS", 4.0)
    assert even_shares(np.full(10, 1.0), 3) == [(0, 5), (5, 10)]
    assert even_shares(np.full(3, 1.0), 3) == [(0, 3)]
    assert even_shares(np.zeros(0), 3) == []


@pytest.mark.parametrize("count", [1, 2, 3])
def test_every_part_of_every_job_runs_once(count: int) -> None:
    """Jobs with fewer parts than others are done too, and an error in a thread is not lost."""
    threads, done = Threads(count), np.zeros((2, 6), dtype=int)

    def add(first: int, last: int, row: np.ndarray) -> None:
        row[first:last] += 1

    def fail(first: int, last: int) -> None:
        raise ValueError("in a thread")

    parts = [(k * 6 // count, (k + 1) * 6 // count) for k in range(count)]
    threads.run(Job(parts, add, (done[0],)), Job([(0, 6)], add, (done[1],)))
    assert (done == 1).all()
    with pytest.raises(ValueError, match="in a thread"):
        threads.run(Job([(0, 0)] * (count - 1) + [(0, 1)], fail, ()))
    threads.close()


def test_threads_end_and_an_interruption_is_no_answer() -> None:
    """What a thread does late, after its round was interrupted, is not taken for the next round's; `close` ends all."""
    before, threads, done = active_count(), Threads(2), []
    waiting, go = Event(), Event()

    def slow(first: int, last: int) -> None:
        if first == 0:
            raise KeyboardInterrupt
        waiting.set()
        go.wait()

    interrupted = Thread(target=lambda: _ignoring(threads, Job([(0, 1), (1, 2)], slow, ())))
    interrupted.start()
    waiting.wait()
    go.set()
    interrupted.join()
    threads.run(Job([(0, 1), (1, 2)], lambda first, last: done.append(first), ()))
    assert sorted(done) == [0, 1]
    threads.close()
    while active_count() > before:
        sleep(0.001)


def _ignoring(threads: Threads, job: Job) -> None:
    with contextlib.suppress(KeyboardInterrupt):
        threads.run(job)
