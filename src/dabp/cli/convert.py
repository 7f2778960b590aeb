"""``dabp convert``: from one format to another."""

from __future__ import annotations

from typing import Annotated

import typer

from dabp.cli.options import Format, MaxBytes, MaxCells, ProblemFile, To, read_problem, report, to_format
from dabp.cli.paths import check_apart, check_target


def convert(
    source: ProblemFile,
    target: Annotated[str, typer.Argument(help="File to write, or - for standard output.")],
    to: To = None,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Write a problem in another format; says what had to be scaled or left out."""
    from dabp.formats import write

    to = to_format(target, to)
    check_target(target, to)
    check_apart({"TARGET": target}, [source])
    report(write(read_problem(source, format, max_cells, max_bytes), target, to))
