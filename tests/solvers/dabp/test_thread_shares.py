"""Work is shared among threads evenly, and only where that pays."""

from __future__ import annotations

from threading import active_count
from time import sleep

import numpy as np
import pytest

from dabp.solvers.dabp.thread_shares import Threads, even_shares


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
def test_every_part_runs_once(count: int) -> None:
    """And an error in a thread is not lost."""
    threads, done = Threads(count), np.zeros(6, dtype=int)

    def add(first: int, last: int, row: np.ndarray) -> None:
        row[first:last] += 1

    def fail(first: int, last: int) -> None:
        if last:
            raise ValueError("in a thread")

    threads.run([(k * 6 // count, (k + 1) * 6 // count) for k in range(count)], add, done)
    assert (done == 1).all()
    with pytest.raises(ValueError, match="in a thread"):
        threads.run([(0, 0)] * (count - 1) + [(0, 1)], fail)
    threads.close()


def test_an_interrupted_round_is_finished_and_close_ends_the_threads() -> None:
    """No thread still writes when the caller gets its interrupt, and none is left afterwards."""
    before, threads, done = active_count(), Threads(2), []

    def slow(first: int, last: int) -> None:
        if first == 0:
            raise KeyboardInterrupt
        sleep(0.05)
        done.append(first)

    with pytest.raises(KeyboardInterrupt):
        threads.run([(0, 1), (1, 2)], slow)
    assert done == [1]
    threads.close()
    assert active_count() == before
