"""λ and w over the iterations."""

from __future__ import annotations

import numpy as np

from dabp.plots.learned import plot_learned


def test_lines_are_the_numbers_given() -> None:
    """One line for each edge with neighbours, w times their number, and a line where a restart begins."""
    arrays = {
        "restart": np.array([0, 0, 1]),
        "damping": np.array([[0.1, 0.2, 0.0], [0.3, 0.4, 0.0], [0.5, 0.6, 0.0]]),
        "weight_edge": np.array([0, 0, 1]),
        "weights": np.array([[0.25, 0.75, 1.0]] * 3),
    }
    upper, lower = plot_learned(arrays)
    np.testing.assert_array_equal([line.get_ydata() for line in upper.lines[:2]], arrays["damping"][:, :2].T)
    np.testing.assert_allclose([line.get_ydata()[0] for line in lower.lines[:3]], [0.5, 1.5, 1.0])
    assert upper.lines[2].get_xdata()[0] == 2.0
