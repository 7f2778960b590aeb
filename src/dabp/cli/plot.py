"""``dabp plot``: pictures of problems, traces and comparisons."""

from __future__ import annotations

import os
import warnings
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.cli.options import Format, MaxBytes, MaxCells, read_problem
from dabp.cli.paths import check_apart, check_output
from dabp.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from dabp.driver.trace import Trace

app = typer.Typer(
    help="Draw a problem, a trace, or several traces together.", no_args_is_help=True, rich_markup_mode=None
)

LONGEST = 1e12
"""Seconds, and (below) iterations, beyond which a trace is not one of a solve."""
MOST_ITERATIONS = 2**53

Output = Annotated[
    Path | None, typer.Option("--output", "-o", help="File to write (.png, .svg, .pdf); shown on screen without it.")
]


@app.command()
def problem(
    file: Annotated[str, typer.Argument(help="Problem file, or - for standard input.")],
    output: Output = None,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Draw the factor graph of a small problem, the shape of a large one."""
    check_output(output)
    check_apart({"--output": output}, [file])
    read = read_problem(file, format, max_cells, max_bytes)
    from dabp.plots.problem_picture import plot_problem

    _finish(plot_problem(read), output)


@app.command()
def trace(
    file: Annotated[Path, typer.Argument(help="Trace written by `dabp solve --trace`.")], output: Output = None
) -> None:
    """Draw cost against iteration, and how damping and weights moved (DABP)."""
    check_output(output)
    check_apart({"--output": output}, [file])
    loaded = _load(file)
    from dabp.plots.trace import plot_trace

    _finish(plot_trace(loaded), output)


@app.command()
def compare(
    files: Annotated[list[str], typer.Argument(help="Traces, as FILE or NAME=FILE.")], output: Output = None
) -> None:
    """Draw the best cost against time for several runs."""
    check_output(output)
    named = [_named(file) for file in files]
    check_apart({"--output": output}, [path for _, path in named])
    shown = Counter(name for name, _ in named)  # two files of one name are told apart by their folders
    traces = {name if shown[name] == 1 else str(path): _load(path) for name, path in named}
    from dabp.plots.compare import plot_compare

    _finish(plot_compare(traces), output)


def _named(file: str) -> tuple[str, Path]:
    """A curve's name and its trace; a file that is there is one, whatever signs are in its name."""
    name, equals, path = file.partition("=")
    return (name, Path(path)) if equals and not os.path.exists(file) else (Path(file).stem, Path(file))


def _load(file: Path) -> Trace:
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
    """A trace whose moments can stand on an axis; `ValueError` for other numbers, `TypeError` for none."""
    for time, iteration, _ in (*trace.improvements, *trace.bounds, *((*block, 0.0) for block in trace.blocks)):
        if not (0 <= time < LONGEST and 0 <= iteration < MOST_ITERATIONS and iteration == int(iteration)):
            raise ValueError(f"an event at {time} s, iteration {iteration}")
    return trace


def _finish(ax: Axes, output: Path | None) -> None:
    from dabp.plots.style import take_names_literally

    figure = ax.figure
    take_names_literally(figure)
    from matplotlib import pyplot as plt

    if output is None:
        from matplotlib.backend_bases import FigureManagerBase

        if type(figure.canvas).manager_class.show is FigureManagerBase.show:  # the backends that have no windows
            raise ParameterError("there is no screen to show a picture on; give a file with --output FILE")
        plt.show()
        return
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message=r"Glyph \d+")  # a name in a script that the font has not
            figure.savefig(str(output), dpi=150)  # type: ignore[union-attr]
    except ValueError as error:
        raise FormatError(f"cannot write this kind of picture: {error}", source=str(output)) from None
    finally:
        plt.close(figure)
