"""Whether threads share some work, decided by the seconds that it took with them and without."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from dabp.compiling import working_seconds


class Trials:
    """Chooses between doing work in threads and alone: mostly the faster way, now and then the other.

    The slower way is tried again after 2 turns, and after twice as many, up to 64, each time that this was in vain. On
    a busy machine a single slow turn may be chance.
    """

    def __init__(self) -> None:
        self._seconds = {True: math.inf, False: math.inf}
        self._first = [True, False, True]  # what threads do first takes longer
        self._together, self._turns, self._patience = True, 0, 2

    @contextmanager
    def turn(self, work: int = 1) -> Iterator[bool]:
        """Whether to do `work` units inside the block in threads; measures the seconds that they take."""
        trying = not self._first and self._turns >= self._patience
        together = self._first.pop(0) if self._first else self._together != trying
        started = working_seconds()
        yield together
        self._seconds[together] = (working_seconds() - started) / work
        if self._first:
            return
        before, self._together = self._together, self._seconds[True] < self._seconds[False]
        self._turns += 1
        if self._together != before:
            self._turns, self._patience = 0, 2
        elif trying:
            self._turns, self._patience = 0, min(64, 2 * self._patience)
