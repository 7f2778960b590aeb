"""``dabp presolve``: simplify a problem exactly and write what is left."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dabp.cli.completion import complete_format
from dabp.cli.options import Format, MaxBytes, MaxCells, read_problem
from dabp.cli.paths import check_apart, check_target


def presolve(
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
    """Write a smaller problem with the same optimum; says what was removed. Exit code 1 if it is infeasible.

    `dabp evaluate SOURCE ANSWER --lift TARGET` gives an answer of the smaller problem the values that were removed.
    """
    from dabp.formats import write
    from dabp.presolve import presolve as simplify

    check_target(target, to)
    check_apart({"TARGET": target}, [source])
    problem = read_problem(source, format, max_cells, max_bytes)
    reduced = simplify(problem)
    for line in reduced.summary:
        print(f"dabp: {line}", file=sys.stderr)
    if reduced.infeasible:
        raise typer.Exit(1)
    for note in write(reduced.named(), target, to):
        print(f"dabp: {note}", file=sys.stderr)
