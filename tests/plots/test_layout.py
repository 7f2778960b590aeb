"""Where nodes go."""

from __future__ import annotations

import numpy as np

from dabp.plots.layout import spring_layout


def test_layout_brings_neighbours_together() -> None:
    """On a path, neighbours end up nearer than the ends."""
    places = spring_layout(6, np.array([[i, i + 1] for i in range(5)]))
    steps = np.linalg.norm(np.diff(places, axis=0), axis=1)
    assert steps.max() < np.linalg.norm(places[0] - places[-1])


def test_layout_fills_the_unit_square() -> None:
    """Components that nothing joins stay within it, too."""
    places = spring_layout(5, np.zeros((0, 2), dtype=np.int64))
    assert np.allclose(places.min(axis=0), 0)
    assert np.allclose(places.max(axis=0), 1)
    assert spring_layout(0, np.zeros((0, 2), dtype=np.int64)).shape == (0, 2)
