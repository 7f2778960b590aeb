"""Options that several commands share, and how their text becomes values."""

from __future__ import annotations

import os
import sys
import warnings
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.cli.completion import complete_format
from dabp.errors import FormatWarning, ParameterError, suggestion

if TYPE_CHECKING:
    from collections.abc import Mapping

    from dabp.problem import Label, Problem

Format = Annotated[
    str | None,
    typer.Option(
        "--format",
        "-f",
        help="Format of the file, if its suffix does not tell (needed for -).",
        autocompletion=complete_format,
    ),
]
MaxCells = Annotated[
    int | None, typer.Option("--max-cells", help="Refuse problems with more costs than this.", show_default=False)
]
MaxBytes = Annotated[
    int | None, typer.Option("--max-bytes", help="Refuse files that unpack to more bytes.", show_default=False)
]


MANY = 20_000
"""Variables up to which the nearest name is looked for."""


def read_problem(file: str, format: str | None, max_cells: int | None, max_bytes: int | None) -> Problem:
    """Read a problem as the options ask, a large one with a bar; ``-`` is standard input."""
    from dabp.cli.reading import ReadingBar
    from dabp.formats import read

    with ReadingBar(file) as bar, warnings.catch_warnings():
        warnings.simplefilter("always", FormatWarning)
        warnings.showwarning = lambda message, *_, **__: print(f"dabp: {message}", file=sys.stderr)
        return read(file, format, max_cells=max_cells, max_bytes=max_bytes, progress=bar)


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
    """Complain about a variable or a value that the problem does not have, and name the nearest."""
    for name, value in fixed.items():
        if name not in problem.names.variables:
            near = suggestion(name, problem.names.variables) if problem.num_variables <= MANY else ""
            hint = near if "did you mean" in near else "; `dabp info FILE` counts them, `dabp convert` shows them"
            raise ParameterError(f"{option}: there is no variable {name!r} in {problem.name!r}{hint}")
        problem.names.value_index(problem.names.variable_index(name), value)


def available_cores() -> int:
    """Cores that this process may use: fewer than the machine's in a container or a batch job."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    if sys.platform == "win32":
        import psutil

        return len(psutil.Process().cpu_affinity())
    return os.cpu_count() or 1  # macOS binds no process to cores
