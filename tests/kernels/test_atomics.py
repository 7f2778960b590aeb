"""What one thread tells another is seen there, with all that was written before it."""

from __future__ import annotations

import threading

import numpy as np

from dabp.kernels.atomics import heard, tell
from dabp.kernels.decorators import kernel


@kernel
def passed_on(thread: int, turns: int, told: np.ndarray, written: np.ndarray) -> int:
    """Two threads write in turns, each having seen what the other wrote; how often it was something else."""
    wrong = 0
    for turn in range(thread, turns, 2):
        while heard(told, 0) < turn:
            pass
        wrong += written[0] != turn
        written[0] = turn + 1
        tell(told, 0, turn + 1)
    return wrong


def test_turns() -> None:
    """Ten thousand turns: none is lost, and nobody sees an old number."""
    told, written = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    passed_on(0, 0, told, written)
    wrong = []
    threads = [threading.Thread(target=lambda k=k: wrong.append(passed_on(k, 2000, told, written))) for k in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [0, 0]
    assert written[0] == told[0] == 2000
