"""How figures look: colours that colour-blind readers can tell apart, with markers and dashes that need no colour."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dabp.packages import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, SubFigure

PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7A5C00", "#000000")
"""Okabe and Ito's colours, the yellow darkened so that a thin line shows on white."""
HUGE = 1e300
"""Numbers from here on cannot be drawn: the range of an axis would be infinite."""


def colour(index: int) -> str:
    """The colour of the solver at a place in the plan; the same in every figure and in the report."""
    return PALETTE[index % len(PALETTE)]


def marker(index: int) -> str:
    """The marker of the solver at a place in the plan."""
    return "os^DvPX*"[index % 8]


def dash(index: int) -> str:
    """Solid for the first round of colours, other dashes when they come again."""
    return ("-", "--", "-.", ":")[index // len(PALETTE) % 4]


def new_figure(*args: Any, **options: Any) -> Any:
    """A figure and axes as of Matplotlib's `subplots`, with layout."""
    require("matplotlib", "a picture")
    from matplotlib import pyplot as plt

    return plt.subplots(*args, layout="constrained", **options)


def finish(ax: Axes) -> None:
    """What every picture with axes has: a light grid behind the curves, and no box around them."""
    ax.grid(alpha=0.25, linewidth=0.6)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)


def whole_numbers(ax: Axes) -> None:
    """Let the axis of iterations count in whole ones, with separators: 2,500 and no 2.5."""
    from matplotlib.ticker import FuncFormatter, MaxNLocator

    ax.xaxis.set_major_locator(MaxNLocator(integer=True, nbins=8, min_n_ticks=1))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))


def plain_numbers() -> Any:
    """Labels 0.01, 0.1, 1, 10, 10k, 1M of a logarithmic axis: no powers, and long numbers are short."""
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: short_number(value))


def short_number(value: float) -> str:
    """A round number in few letters."""
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        if size <= abs(value) < 1e12:
            return f"{value / (1e3 if letter == 'k' else size):g}{letter}"
    return f"{value:g}"


def take_names_literally(figure: Figure | SubFigure) -> None:
    """Let dollar signs be dollar signs wherever a figure may show names: they are no formulas, and may fail as such."""
    texts = [*figure.texts, *(text for legend in figure.legends for text in legend.get_texts())]
    for axes in figure.axes:
        legend = axes.get_legend()
        texts += [axes.title, *axes.texts, *(() if legend is None else legend.get_texts())]
        if axes.get_yscale() == "linear":  # a logarithmic axis writes its powers as formulas
            texts += axes.get_yticklabels()
    for text in texts:
        text.set_parse_math(False)
