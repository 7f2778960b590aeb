"""Streams of runs: what was made ahead is what would have been made for the run alone."""

import numpy as np
import pytest

from dabp.problem.randomness import generator
from dabp.solvers.belief_propagation.streams import _STREAM, AHEAD, NUMBERS, Streams


@pytest.mark.parametrize("count", [0, 5, NUMBERS // 2, 3 * NUMBERS])
def test_streams_follow_from_seed_and_run(count):
    """In any order, and again from the beginning, however many are made ahead."""
    ordered, streams = Streams(7, count), Streams(7, count)
    numbers = [ordered.of(run)[0].random() for run in range(2 * AHEAD + 3)]
    assert len(set(numbers)) == len(numbers)
    for run in (AHEAD + 5, 0, 2 * AHEAD, 3, 3, 1):
        rng, chance = streams.of(run)
        alone = generator(7, _STREAM, run)
        assert np.array_equal(chance, alone.random(count))
        assert rng.random() == alone.random() == numbers[run]
    assert Streams(8, count).of(3)[0].random() != numbers[3]
