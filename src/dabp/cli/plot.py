"""``dabp plot``: pictures of problems, traces and comparisons."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from dabp.cli.options import Format, MaxBytes, MaxCells, ProblemFile, read_problem, report
from dabp.cli.paths import check_write
from dabp.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from dabp.driver.trace import Trace

app = typer.Typer(help="Draw a problem, a trace, or several traces together.", rich_markup_mode=None)

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write (.png, .svg, .pdf); shown on screen without it.")
]


@app.command()
def problem(
    file: ProblemFile,
    output: Output = None,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Draw the factor graph of a small problem, the shape of a large one."""
    check_write(output, [file])
    read = read_problem(file, format, max_cells, max_bytes)
    from dabp.plots.problem_picture import plot_problem

    _finish(plot_problem(read), output)


@app.command()
def trace(
    file: Annotated[Path, typer.Argument(help="Trace written by `dabp solve --trace`.")], output: Output = None
) -> None:
    """Draw cost against iteration, and how loss, damping and weights moved (DABP)."""
    check_write(output, [file])
    loaded = load_trace(file)
    from dabp.plots.trace import plot_trace

    _finish(plot_trace(loaded), output)


@app.command()
def compare(
    files: Annotated[list[str], typer.Argument(metavar="FILE", help="Traces, as FILE or NAME=FILE.")],
    output: Output = None,
) -> None:
    """Draw the best cost against time for several runs."""
    named = [_named(file) for file in files]
    check_write(output, [path for _, path in named])
    shown = Counter(name for name, _ in named)  # two files of one name get their paths as names
    traces = {name if shown[name] == 1 else str(path): load_trace(path) for name, path in named}
    from dabp.plots.compare import plot_compare

    _finish(plot_compare(traces), output)


def _named(file: str) -> tuple[str, Path]:
    """A curve's name and the file of its trace; an existing file may have = in its name."""
    name, equals, path = file.partition("=")
    return (name, Path(path)) if equals and not os.path.exists(file) else (Path(file).stem, Path(file))


def load_trace(file: Path) -> Trace:
    """Read a trace; raises `FormatError` if the file is missing or damaged."""
    from dabp.driver.trace import Trace

    try:
        return _plausible(Trace.load(file))
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        what = "there is no such file" if missing else f"cannot be read ({error.strerror})"
        raise FormatError(what, source=str(file)) from None
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise FormatError("not a trace; `dabp solve --trace FILE` writes one", source=str(file)) from None


def _plausible(trace: Trace) -> Trace:
    """A trace whose times and iterations fit on an axis; raises `ValueError` or `TypeError` for others."""
    for time, iteration, _ in (*trace.improvements, *trace.bounds, *((*block, 0.0) for block in trace.blocks)):
        if not (0 <= time < 1e12 and 0 <= iteration < 2**53 and iteration == int(iteration)):
            raise ValueError(f"an event at {time} s, iteration {iteration}")
    return trace


def _finish(ax: Axes, output: Path | None) -> None:
    from matplotlib import pyplot as plt
    from matplotlib.backend_bases import FigureManagerBase

    figure = cast("Figure", ax.figure)
    if output is not None:
        save_figure(figure, output)
    elif type(figure.canvas).manager_class.show is FigureManagerBase.show:  # the backends that have no windows
        raise ParameterError("there is no screen to show a picture on; give a file with --output FILE")
    else:
        plt.show()
    plt.close(figure)


def save_figure(figure: Figure, output: Path) -> None:
    """Write a Matplotlib figure, whose format the suffix tells."""
    from dabp.plots.style import take_names_literally

    take_names_literally(figure)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"Glyph \d+")  # a name in a script that the font has not
            figure.savefig(str(output), dpi=150)
    except ValueError as error:
        raise FormatError(f"cannot write this kind of picture: {error}", source=str(output)) from None
    report([f"wrote {output}"])
