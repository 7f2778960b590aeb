"""Random streams follow from a seed."""

from __future__ import annotations

from dabp.problem.randomness import generator


def test_streams_repeat_and_differ() -> None:
    """The same seed and stream are the same numbers; another of either gives others."""
    keys = ((1,), (2,), (1, 1), (1, 2), (1, 1, 1))
    drawn = {key: tuple(generator(*key).integers(0, 2**62, 4).tolist()) for key in keys}
    assert len(set(drawn.values())) == len(drawn)
    assert tuple(generator(1, 1).integers(0, 2**62, 4).tolist()) == drawn[1, 1]
