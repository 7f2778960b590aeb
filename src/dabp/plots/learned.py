"""What DABP has learned: λ and w of each edge over the iterations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dabp.plots.style import colour, finish, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_LINES = 200
"""Edges, or pairs of edges, that are drawn: at even distances where there are more."""


def plot_learned(arrays: Mapping[str, NDArray[Any]]) -> tuple[Axes, Axes]:
    """Draw λ, and w times the number of neighbours, of each edge; `arrays` are those of `Learned` or of its file.

    Edges of variables with one factor have neither and are left out. Dotted lines are restarts.
    """
    _, (upper, lower) = new_figure(2, 1, sharex=True, figsize=(7.0, 5.0))
    counts = np.bincount(arrays["weight_edge"], minlength=arrays["damping"].shape[1])
    edges = np.flatnonzero(counts)
    for axes, values, name in (
        (upper, arrays["damping"][:, edges], "λ"),
        (lower, arrays["weights"] * counts[arrays["weight_edge"]], "w × neighbours"),
    ):
        shown = values[:, :: max(1, -(-values.shape[1] // MOST_LINES))]
        axes.plot(np.arange(len(shown)), shown, color=colour(0), linewidth=0.5, alpha=0.4)
        axes.set_ylabel(name)
        for start in np.flatnonzero(np.diff(arrays["restart"])) + 1:
            axes.axvline(float(start), color="grey", linestyle=":", linewidth=0.8)
    lower.set_xlabel("iteration")
    for axes in (upper, lower):
        finish(axes)
    return upper, lower
