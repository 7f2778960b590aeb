"""A picture of a problem: the factor graph of a small one, the shape of a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dabp.plots.layout import spring_layout
from dabp.plots.style import colour
from dabp.problem import Problem
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DRAWN_NODES = 250
"""Up to so many variables and factors of arity three or more are drawn one by one."""
DRAWN_EDGES = 3000
CELLS = 200
"""Resolution of the picture of a large problem."""


def plot_problem(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw variables as circles, binary factors as lines, larger factors as squares.

    A line is the wider, the more its factor's costs differ. Problems too large for that are shown as a matrix: how
    many factors join the variables of each region.
    """
    if ax is None:
        from matplotlib import pyplot as plt

        _, ax = plt.subplots(figsize=(6, 6), layout="constrained")
    large = np.flatnonzero(problem.arities >= 3)
    binary = np.flatnonzero(problem.arities == 2)
    if problem.num_variables + len(large) <= DRAWN_NODES and len(binary) <= DRAWN_EDGES:
        _draw_graph(problem, binary, large, ax)
    else:
        _draw_matrix(problem, ax)
    ax.set_title(
        f"{shown(problem.name)}: {problem.num_variables:,} variables, {problem.num_factors:,} factors", fontsize=10
    )
    return ax


def _draw_graph(problem: Problem, binary: NDArray[np.int64], large: NDArray[np.int64], ax: Axes) -> None:
    count = problem.num_variables
    pairs = np.array([problem.scope(f) for f in binary.tolist()], dtype=np.int64).reshape(-1, 2)
    spokes = np.array(
        [(v, count + k) for k, f in enumerate(large.tolist()) for v in problem.scope(f).tolist()], dtype=np.int64
    ).reshape(-1, 2)
    places = spring_layout(count + len(large), np.concatenate([pairs, spokes]))
    from matplotlib.collections import LineCollection

    weights = np.array([_range(problem.table(f)) for f in binary.tolist()])
    largest = weights.max() if len(weights) and weights.max() > 0 else 1.0
    ax.add_collection(
        LineCollection(list(places[pairs]), colors="0.7", linewidths=0.3 + 1.7 * weights / largest, zorder=1)
    )
    ax.add_collection(LineCollection(list(places[spokes]), colors="0.8", linewidths=0.8, zorder=1))
    ax.scatter(
        places[count:, 0],
        places[count:, 1],
        marker="s",
        s=30,
        color=colour(1),
        zorder=2,
        label="factors of three or more",
    )
    ax.scatter(places[:count, 0], places[:count, 1], s=_size(count), color=colour(0), zorder=3, label="variables")
    if count <= 40:
        for i, (x, y) in enumerate(places[:count].tolist()):
            ax.annotate(shown(problem.variable_name(i)), (x, y), xytext=(4, 4), textcoords="offset points", fontsize=7)
    if len(large):
        ax.legend(loc="upper right", fontsize=8)
    ax.set_axis_off()


def _size(count: int) -> float:
    return float(np.clip(3000 / max(count, 1), 12, 90))


def _range(table: NDArray[np.float64]) -> float:
    finite = table[np.isfinite(table)]
    return float(np.ptp(finite)) if len(finite) else 0.0


def _draw_matrix(problem: Problem, ax: Axes) -> None:
    """Factors by the regions of their variables, every pair of a scope counted."""
    cells = min(CELLS, problem.num_variables)
    counts = np.zeros((cells, cells))
    for group in problem.arity_groups:
        region = group.variables * cells // problem.num_variables
        for a in range(group.variables.shape[1]):
            for b in range(group.variables.shape[1]):
                if a != b:
                    np.add.at(counts, (region[:, a], region[:, b]), 1)
    image = ax.imshow(np.log1p(counts), cmap="cividis", extent=(0, problem.num_variables, problem.num_variables, 0))
    ax.figure.colorbar(image, ax=ax, label="ln(1 + factors)", shrink=0.8)
    ax.set_xlabel("variable")
    ax.set_ylabel("variable")
