"""The random numbers of the runs of `bp-learned`: a stream for each, made a few at a time."""

from __future__ import annotations

import numpy as np

from dabp.problem.randomness import generator

AHEAD = 16
"""Runs whose streams are made at a time: beside message passing the code that makes one has left the caches,
and to fetch it takes ten times as long as to run it again."""

_STREAM = 0x50F7


class Streams:
    """By the number of a run: a stream that follows from the seed and that number alone."""

    def __init__(self, seed: int):
        self._seed = seed
        self._made: dict[int, np.random.Generator] = {}

    def of(self, run: int) -> np.random.Generator:
        """The stream of a run, from its beginning."""
        if run not in self._made:
            ahead = AHEAD if run > 0 else 1  # there may be one run only
            self._made = {k: generator(self._seed, _STREAM, k) for k in range(run, run + ahead)}
        return self._made.pop(run)
