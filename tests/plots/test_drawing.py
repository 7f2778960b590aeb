"""Figures of experiments as Matplotlib draws them: lines, dots and bars from the numbers they are given."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dabp.errors import ParameterError
from dabp.plots.drawing import Curve, Figure, Panel, draw_figure, draw_panel, label_order
from dabp.plots.style import colour


def made(kind: str) -> Figure:
    """Two panels; the second solver is missing in the first."""
    words = kind != "line"
    first = Curve("a", ["a"] if words else [1, 10], [3.0] if words else [4.0, 2.0], [0.5] if words else [1.0, math.nan])
    second = Curve("b", ["b"] if words else [1, 10], [5.0] if words else [3.0, 1.0])
    panels = [Panel("one", [first], (0.0, 5.0)), Panel("two", [second, first])]
    return Figure("f", "F", "iterations", "cost", kind, panels, log_x=not words)


def test_lines_have_bands_and_the_panels_focus() -> None:
    """A band of the half width where there is one, a logarithmic axis and the range worth looking at."""
    figure = made("line")
    ax = draw_panel(figure, figure.panels[0], label_order(figure))
    assert ax.lines[0].get_xydata().tolist() == [[1, 4], [10, 2]]
    corners = ax.collections[0].get_paths()[0].vertices
    assert {3.0, 5.0} <= set(corners[:, 1])
    assert (ax.get_xscale(), ax.get_ylim()) == ("log", (0.0, 5.0))


@pytest.mark.parametrize("kind", ["dots", "bars"])
def test_words_are_named_on_the_axis(kind: str) -> None:
    """A row per solver, in the panel's order; bars start at zero, dots have intervals where they are known."""
    figure = made(kind)
    ax = draw_panel(figure, figure.panels[1], label_order(figure))
    assert [label.get_text() for label in ax.get_yticklabels()] == ["b", "a"]
    if kind == "bars":
        assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 5.0), (0, 3.0)]


def test_a_solver_has_one_colour_in_all_panels() -> None:
    """Even where panels show different solvers."""
    figure = made("line")
    canvas = draw_figure(figure, label_order(figure))
    colours = [{line.get_label(): line.get_color() for line in ax.lines} for ax in canvas.axes]
    assert colours == [{"a": colour(0)}, {"b": colour(1), "a": colour(0)}]
    assert [text.get_text() for text in canvas.legends[0].get_texts()] == ["a", "b"]


def test_a_figure_without_panels_is_told() -> None:
    """Not an empty picture."""
    with pytest.raises(ParameterError, match="nothing to show in figure 'f'"):
        draw_figure(Figure("f", "F", "x", "y", "line", []), [])


def test_panels_beyond_a_row_leave_no_empty_axes() -> None:
    """Five panels are two rows; the rest of the second is hidden."""
    figure = Figure("f", "F", "x", "y", "line", [Panel(str(i), [Curve("a", [1], [1.0])]) for i in range(5)])
    canvas = draw_figure(figure, ["a"])
    assert np.sum([ax.get_visible() for ax in canvas.axes]) == 5
    assert len(canvas.axes) == 8


def test_the_legend_fits_whatever_solvers_are_called() -> None:
    """Five long names in a figure of one panel."""
    names = [f"a solver with a long name (parameter={i})" for i in range(5)]
    curves = [Curve(name, [1, 10], [4.0, 2.0]) for name in names]
    canvas = draw_figure(Figure("f", "F", "x", "y", "line", [Panel("one", curves)]), names)
    canvas.canvas.draw()
    box = canvas.legends[0].get_window_extent()
    assert 0 <= box.x0 < box.x1 <= canvas.bbox.width
    assert canvas.axes[0].get_window_extent().height > 100
