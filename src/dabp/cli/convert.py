"""``dabp convert``: from one format to another."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dabp.cli.completion import complete_format
from dabp.cli.options import Format, MaxBytes, MaxCells, read_problem
from dabp.cli.paths import check_apart, check_target


def convert(
    source: Annotated[str, typer.Argument(help="Problem file, or - for standard input.")],
    target: Annotated[str, typer.Argument(help="File to write, or - for standard output.")],
    to: Annotated[
        str | None,
        typer.Option("--to", help="Format to write, if the suffix does not tell.", autocompletion=complete_format),
    ] = None,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Write a problem in another format; says what had to be scaled or left out."""
    from dabp.formats import write

    check_target(target, to)
    check_apart({"TARGET": target}, [source])
    problem = read_problem(source, format, max_cells, max_bytes)
    for note in write(problem, target, to):
        print(f"dabp: {note}", file=sys.stderr)
