"""A picture of a problem: the factor graph of a small one, the shape of a large one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dabp.plots.layout import packed_layout
from dabp.plots.style import colour, new_figure, plain_numbers
from dabp.problem import Problem
from dabp.problem.columns import table_ranges
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_WIDTH = 7.0  # inches of a picture of its own


def plot_problem(problem: Problem, ax: Axes | None = None) -> Axes:
    """Draw variables as circles, binary factors as lines, larger factors as squares.

    A line is the wider, the more its factor's costs differ. Problems too large for that are shown as a matrix: how
    many factors join the variables of each region.
    """
    made = ax is None
    if ax is None:
        _, ax = new_figure(figsize=(_WIDTH, _WIDTH))
    large = np.flatnonzero(problem.arities >= 3)
    binary = np.flatnonzero(problem.arities == 2)
    if problem.num_variables + len(large) <= 250 and len(binary) <= 3000:
        _draw_graph(problem, binary, large, ax)
        if made:
            _fit(ax)
    else:
        _draw_matrix(problem, ax)
    hidden = f" and {problem.auxiliaries.count:,} auxiliary" if problem.auxiliaries.count else ""
    sizes = f"{problem.auxiliaries.num_visible:,} variables{hidden}, {problem.num_factors:,} factors"
    ax.set_title(f"{shown(problem.name)}: {sizes}", fontsize=10)
    return ax


def _draw_graph(problem: Problem, binary: NDArray[np.int64], large: NDArray[np.int64], ax: Axes) -> None:
    count, visible = problem.num_variables, problem.auxiliaries.num_visible
    pairs = np.array([problem.scope(f) for f in binary.tolist()], dtype=np.int64).reshape(-1, 2)
    spokes = np.array(
        [(v, count + k) for k, f in enumerate(large.tolist()) for v in problem.scope(f).tolist()], dtype=np.int64
    ).reshape(-1, 2)
    places = packed_layout(count + len(large), np.concatenate([pairs, spokes]))
    _draw_edges(problem, binary, places[pairs], places[spokes], ax)
    size = float(np.clip(3000 / max(count, 1), 12, 90))
    x, y = places.T
    ax.scatter(x[count:], y[count:], marker="s", s=30, color=colour(1), zorder=2, label="factors of three or more")
    ax.scatter(x[:visible], y[:visible], s=size, color=colour(0), zorder=3, label="variables")
    if visible < count:
        ax.scatter(x[visible:count], y[visible:count], s=0.4 * size, color="0.6", zorder=3, label="auxiliary")
    if visible <= 40:
        _write_names(problem, places[:visible], ax)
    handles, labels = ax.get_legend_handles_labels()
    if not len(large) and visible == count:
        handles, labels = [], []
    for width, words in _widths(problem, binary):
        handles += ax.plot([], [], color="0.45", linewidth=width)
        labels.append(words)
    if handles:
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0), ncols=3, fontsize=8, frameon=False)
    ax.set_aspect("equal")
    ax.margins(0.08)
    ax.set_axis_off()


def _fit(ax: Axes) -> None:
    (left, right), (low, high) = ax.get_xlim(), ax.get_ylim()
    share = (high - low) / max(right - left, 1e-9)
    height = float(np.clip(_WIDTH * share + 0.7, 2.5, 8.0))  # 0.7 for title and legend
    ax.figure.set_size_inches(_WIDTH, height)  # type: ignore[union-attr]


def _draw_edges(
    problem: Problem, binary: NDArray[np.int64], pairs: NDArray[np.float64], spokes: NDArray[np.float64], ax: Axes
) -> None:
    from matplotlib.collections import LineCollection

    dense = min(1.0, 150 / max(len(binary), 1))
    ax.add_collection(
        LineCollection(
            list(pairs),
            colors="0.45",
            linewidths=np.sqrt(dense) * _width(_ranges(problem, binary)),
            alpha=float(np.clip(dense**0.6, 0.08, 0.8)),
            zorder=1,
        )
    )
    ax.add_collection(LineCollection(list(spokes), colors="0.8", linewidths=0.8, zorder=1))


def _write_names(problem: Problem, places: NDArray[np.float64], ax: Axes) -> None:
    """Beside the circles, with a light edge so that lines behind them do not cross letters out."""
    from matplotlib.patheffects import withStroke

    halo = [withStroke(linewidth=2, foreground="white")]
    for i, place in enumerate(places.tolist()):
        name = shown(problem.names.variable(i))
        ax.annotate(name, place, xytext=(6, 5), textcoords="offset points", fontsize=7, zorder=4, path_effects=halo)


def _ranges(problem: Problem, factors: NDArray[np.int64]) -> NDArray[np.float64]:
    return table_ranges(problem)[1][problem.factor_table[factors]]


def _width(ranges: NDArray[np.float64]) -> NDArray[np.float64]:
    largest = ranges.max(initial=0.0)
    return 0.3 + 1.7 * ranges / (largest if largest > 0 else 1.0)


def _widths(problem: Problem, binary: NDArray[np.int64]) -> list[tuple[float, str]]:
    """What the widths of lines stand for: the least, the middle and the largest range; none if all are the same."""
    ranges = _ranges(problem, binary)
    if not len(ranges) or ranges.min() == ranges.max():
        return []
    few = np.unique([ranges.min(), (ranges.min() + ranges.max()) / 2, ranges.max()])
    return [(float(width), f"costs differ by {value:.4g}") for width, value in zip(_width(few), few, strict=True)]


def _draw_matrix(problem: Problem, ax: Axes) -> None:
    """Factors by the regions of their variables, every pair of a scope counted."""
    cells = min(200, problem.num_variables)
    counts = np.zeros((cells, cells))
    for group in problem.facts.arity_groups:
        region = group.variables * cells // problem.num_variables
        for a in range(group.variables.shape[1]):
            for b in range(group.variables.shape[1]):
                if a != b:
                    np.add.at(counts, (region[:, a], region[:, b]), 1)
    from matplotlib.colors import LogNorm

    most = max(2.0, float(counts.max(initial=0)))
    shades = LogNorm(1, most)
    seen = np.ma.masked_equal(counts, 0)
    extent = (0, problem.num_variables, problem.num_variables, 0)
    image = ax.imshow(seen, cmap="viridis", interpolation="nearest", norm=shades, extent=extent)
    bar = ax.figure.colorbar(image, ax=ax, label="factors between two regions", shrink=0.8, format=plain_numbers())
    bar.ax.minorticks_off()
    ax.set_xlabel("variable")
    ax.set_ylabel("variable")
