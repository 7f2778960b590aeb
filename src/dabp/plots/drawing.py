"""Figures of experiments: their numbers (a panel per group of instances, a curve per solver), drawn with Matplotlib.

What the numbers are is computed in ``dabp.lab.experiments.figures``; the report draws the same ones in the browser.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from dabp.errors import ParameterError
from dabp.packages import require
from dabp.plots.style import colour, dash, finish, marker, new_figure, plain_numbers, whole_numbers
from dabp.problem.shown import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Canvas


LEGEND_HANDLE = 0.8
"""Inches of a legend's entry without its text."""

LEGEND_LETTER = 0.085
"""Inches of a letter of a legend."""

LEGEND_LINE = 0.22
"""Inches of a line of a legend."""


@dataclass
class Curve:
    """One solver in one panel; `half` is the half width of the 95 % confidence interval (NaN: none)."""

    label: str
    x: list[Any]
    y: list[float]
    half: list[float] = field(default_factory=list)
    runs: int = 0


@dataclass
class Panel:
    """One group of instances; `focus` is the range of y worth looking at, if not all of it."""

    title: str
    curves: list[Curve]
    focus: tuple[float, float] | None = None


@dataclass
class Figure:
    """`kind` is line (x are numbers), dots (x are words, with intervals) or bars (x are words, from zero)."""

    name: str
    title: str
    x_label: str
    y_label: str
    kind: str
    panels: list[Panel]
    log_x: bool = False


def draw_panel(figure: Figure, panel: Panel, labels: Sequence[str], ax: Axes | None = None) -> Axes:
    """Draw one group of instances; `labels` fixes the solvers' colours over panels."""
    if ax is None:
        _, ax = new_figure()
    order = {label: index for index, label in enumerate(labels)}
    for curve in panel.curves:
        index = order[curve.label]
        if figure.kind == "line":
            _draw_line(ax, curve, index)
        else:
            _draw_word(ax, figure.kind, curve, index, panel)
    if figure.kind != "line":
        ax.set_yticks(range(len(panel.curves)), [_short(curve.label) for curve in panel.curves])
        ax.invert_yaxis()
        ax.set_xlabel(figure.y_label)
        finish(ax)
        ax.grid(visible=False, axis="y")
    else:
        ax.set_xlabel(shown(figure.x_label))
        ax.set_ylabel(figure.y_label)
        finish(ax)
        if figure.log_x:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(plain_numbers())
        elif "iteration" in figure.x_label:
            whole_numbers(ax)
        if panel.focus is not None:
            ax.set_ylim(*panel.focus)
    ax.set_title(_short(panel.title), fontsize="medium")
    return ax


def _draw_line(ax: Axes, curve: Curve, index: int) -> None:
    x, y = np.array(curve.x, dtype=float), np.array(curve.y)
    few = len(x) <= 12
    ax.plot(x, y, dash(index), color=colour(index), marker=marker(index) if few else None, label=_short(curve.label))
    if curve.half:
        half = np.nan_to_num(np.array(curve.half))
        ax.fill_between(x, y - half, y + half, color=colour(index), alpha=0.15, linewidth=0)


def _draw_word(ax: Axes, kind: str, curve: Curve, index: int, panel: Panel) -> None:
    place = panel.curves.index(curve)
    if kind == "bars":
        ax.barh(place, curve.y[0], color=colour(index), label=_short(curve.label))
        return
    half = curve.half[0] if curve.half and not math.isnan(curve.half[0]) else None
    ax.errorbar(
        curve.y[0], place, xerr=half, fmt=marker(index), color=colour(index), capsize=3, label=_short(curve.label)
    )


def _short(name: str) -> str:
    text = shown(name)
    return text if len(text) <= 36 else f"{text[:35]}…"


def draw_figure(figure: Figure, labels: Sequence[str]) -> Canvas:
    """The whole figure: a panel per group, one legend."""
    require("matplotlib", "a figure")
    from matplotlib.figure import Figure as Canvas

    if not figure.panels:
        raise ParameterError(f"these results have nothing to show in figure {figure.name!r}")
    columns = min(4, len(figure.panels))
    lines = math.ceil(len(figure.panels) / columns)
    width = 3.4 * columns + 0.4
    canvas = Canvas(figsize=(width, 2.8 * lines + 0.9), layout="constrained")
    grid = canvas.subplots(lines, columns, squeeze=False)
    for ax in grid.flat[len(figure.panels) :]:
        ax.set_visible(False)
    handles: dict[str, Any] = {}
    for ax, panel in zip(grid.flat, figure.panels, strict=False):
        draw_panel(figure, panel, labels, ax)
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    if figure.kind == "line":
        entry = LEGEND_HANDLE + LEGEND_LETTER * max(map(len, handles), default=0)
        across = int(np.clip(width / entry, 1, min(4, max(len(handles), 1))))
        canvas.set_figheight(canvas.get_figheight() + LEGEND_LINE * (math.ceil(len(handles) / across) - 1))
        canvas.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=across)
    canvas.suptitle(shown(figure.title))
    return canvas


def label_order(figure: Figure) -> list[str]:
    """Every label of a figure, in the order in which panels bring them."""
    return list(dict.fromkeys(curve.label for panel in figure.panels for curve in panel.curves))
