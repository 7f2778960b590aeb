"""Streams of runs: what was made ahead is what would have been made for the run alone."""

from dabp.solvers.belief_propagation.streams import AHEAD, Streams


def test_streams_follow_from_seed_and_run():
    """In any order, and again from the beginning."""
    ordered, streams = Streams(7), Streams(7)
    numbers = [ordered.of(run).random() for run in range(2 * AHEAD + 3)]
    assert len(set(numbers)) == len(numbers)
    for run in (AHEAD + 5, 0, 2 * AHEAD, 3, 3, 1):
        assert streams.of(run).random() == numbers[run]
    assert Streams(8).of(3).random() != numbers[3]
