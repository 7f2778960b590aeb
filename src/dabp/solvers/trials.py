"""Whether threads share some work, decided by how long it took with them and without."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager

from dabp.compiling import working_seconds

FEWEST, MOST = 2, 64
"""How often work is done in the faster way until the other one is tried again: at first, and when that was in vain
often. On a busy machine threads wait for each other's cores, and a single slow turn may have been chance."""


class Trials:
    """Two ways of doing the same, together and alone: mostly the faster one, now and then the other."""

    def __init__(self) -> None:
        self._seconds = {True: math.inf, False: math.inf}
        self._first = [True, False, True]  # what threads do first takes longer
        self._together, self._turns, self._patience = True, 0, FEWEST

    @contextmanager
    def turn(self, work: int = 1) -> Iterator[bool]:
        """Whether to do the work inside, so much of it, together."""
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
            self._turns, self._patience = 0, FEWEST
        elif trying:
            self._turns, self._patience = 0, min(MOST, 2 * self._patience)
