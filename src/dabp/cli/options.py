"""Options that several commands share, how their text becomes values, and the bar that a large file is read with."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.cli.completion import complete_format
from dabp.errors import ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from rich.progress import Progress

    from dabp.problem import Label, Problem

ProblemFile = Annotated[str, typer.Argument(help="Problem file, or - for standard input.")]
Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        help="Format of the file, if its suffix does not tell (needed for -).",
        autocompletion=complete_format,
    ),
]
To = Annotated[
    str | None,
    typer.Option(
        "--to", help="Format to write, if the suffix does not tell (xml for -).", autocompletion=complete_format
    ),
]
Output = Annotated[str, typer.Option("--output", "-o", metavar="FILE", help="File to write, or - for standard output.")]
MaxCells = Annotated[
    int | None, typer.Option("--max-cells", help="Refuse problems with more costs than this.", show_default=False)
]
MaxBytes = Annotated[
    int | None, typer.Option("--max-bytes", help="Refuse files that unpack to more bytes.", show_default=False)
]
Fix = Annotated[
    list[str] | None, typer.Option("--fix", metavar="NAME=VALUE", help="Value that a variable keeps; repeatable.")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")]
Top = Annotated[int, typer.Option("--top", min=0, help="How many factors to list.")]


def read_problem(file: str, format: str | None, max_cells: int | None, max_bytes: int | None) -> Problem:
    """Read a problem as the options ask, a large one with a bar; ``-`` is standard input."""
    from dabp.cli.paths import check_input
    from dabp.formats import read

    check_input(file)
    with reading_bar(file) as bar:
        return read(file, format, max_cells=max_cells, max_bytes=max_bytes, progress=bar)


def to_format(target: str, to: str | None) -> str | None:
    """The format that is written: as given, XML to standard output, else None for the target's suffix."""
    return to or ("xml" if target == "-" else None)


def report(lines: Iterable[object]) -> None:
    """Print what a command did, a line each, on standard error."""
    for line in lines:
        print(f"dabp: {line}", file=sys.stderr)


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """``name=value`` texts as a dictionary; a name with two values is refused."""
    result: dict[str, str] = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ParameterError(f"{option} takes name=value, not {text!r}")
        key, value = key.strip(), value.strip()
        if result.setdefault(key, value) != value:
            raise ParameterError(f"{option} {key} is given twice, as {result[key]!r} and as {value!r}")
    return result


def check_fixed(problem: Problem, fixed: Mapping[str, Label], option: str = "--fix") -> None:
    """Raise an error for a variable or a value that the problem does not have, with the nearest name."""
    for name, value in fixed.items():
        if name not in problem.names.variables:
            near = suggestion(name, problem.names.variables) if problem.num_variables <= 20_000 else ""
            hint = near if "did you mean" in near else "; `dabp info FILE` counts them, `dabp convert` shows them"
            raise ParameterError(f"{option}: there is no variable {name!r} in {problem.name!r}{hint}")
        problem.names.value_index(problem.names.variable_index(name), value)


@contextlib.contextmanager
def reading_bar(file: str) -> Iterator[Callable[[int, int], None] | None]:
    """A callback of `dabp.read` that draws a bar on a terminal from its first call on; None elsewhere."""
    if sys.stderr is None or not sys.stderr.isatty():
        yield None
        return
    bars: list[Progress] = []

    def show(done: int, total: int) -> None:
        if not bars:
            bars.append(stack.enter_context(_bar(file)))
        bars[0].update(bars[0].task_ids[0], completed=done, total=total)

    with contextlib.ExitStack() as stack:
        yield show


def _bar(file: str) -> Progress:
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn

    from dabp.cli.display import console
    from dabp.problem.shown import shown

    columns = (TextColumn("reading {task.description}", markup=False), BarColumn(), DownloadColumn())
    bar = Progress(*columns, TimeRemainingColumn(), console=console(stderr=True), transient=True)
    bar.add_task(shown(file))
    return bar
