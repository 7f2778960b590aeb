"""Where nodes go."""

from __future__ import annotations

import itertools

import numpy as np

from dabp.plots.layout import packed_layout, spring_layout


def test_layout_brings_neighbours_together() -> None:
    """On a path, neighbours end up nearer than the ends."""
    places = spring_layout(6, np.array([[i, i + 1] for i in range(5)]))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < np.linalg.norm(places[0] - places[-1])


def test_parts_are_packed_beside_each_other() -> None:
    """Boxes around connected parts do not touch, whatever their sizes, and together they make about a square."""
    chains = [9, 5, 5, 2, 1, 1, 1]
    starts = np.cumsum([0, *chains])
    edges = np.array([(i, i + 1) for a, b in itertools.pairwise(starts) for i in range(a, b - 1)])
    places = packed_layout(int(starts[-1]), edges)
    boxes = [(places[a:b].min(axis=0), places[a:b].max(axis=0)) for a, b in itertools.pairwise(starts)]
    for (low, high), (other_low, other_high) in itertools.combinations(boxes, 2):
        assert (high + 0.5 < other_low).any() or (other_high + 0.5 < low).any()
    wide, tall = np.ptp(places, axis=0)
    assert 1 / 3 < wide / tall < 3


def test_nothing_and_little_have_places() -> None:
    """No nodes, one, two in one place."""
    none = np.zeros((0, 2), dtype=np.int64)
    assert packed_layout(0, none).shape == (0, 2)
    assert np.isfinite(packed_layout(1, none)).all()
    assert np.isfinite(packed_layout(2, np.array([[0, 1]]))).all()
