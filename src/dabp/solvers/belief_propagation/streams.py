"""The random numbers of the runs of `bp-learned`: a stream for each, made a few at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dabp.problem.randomness import generator

AHEAD, NUMBERS = 16, 100_000
"""Runs whose streams are made at a time, if they take no more numbers than that: beside message passing the code that
makes one has left the caches, and to fetch it takes ten times as long as to run it again."""

_STREAM = 0x50F7

Stream = tuple[np.random.Generator, NDArray[np.float64]]


class Streams:
    """By the number of a run: a stream that follows from the seed and that number alone, and its first `count` numbers.

    These are uniform between 0 and 1.
    """

    def __init__(self, seed: int, count: int):
        self._seed, self._count = seed, count
        self._ahead = max(1, min(AHEAD, NUMBERS // max(1, count)))
        self._made: dict[int, Stream] = {}

    def of(self, run: int) -> Stream:
        """The stream of a run, and what was drawn from it first."""
        if run not in self._made:
            ahead = self._ahead if run > 0 else 1  # there may be one run only
            self._made = {k: self._begun(k) for k in range(run, run + ahead)}
        return self._made.pop(run)

    def _begun(self, run: int) -> Stream:
        rng = generator(self._seed, _STREAM, run)
        return rng, rng.random(self._count)
