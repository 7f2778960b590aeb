"""``dabp presolve``: simplify a problem exactly and write what is left."""

from __future__ import annotations

from typing import Annotated

import typer

from dabp.cli.options import Format, MaxBytes, MaxCells, ProblemFile, To, read_problem, report, to_format
from dabp.cli.paths import check_apart, check_target


def presolve(
    source: ProblemFile,
    target: Annotated[str, typer.Argument(help="File to write, or - for standard output.")],
    to: To = None,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Write a smaller problem with the same optimum; says what was removed. Exit code 1 if it is infeasible.

    `dabp evaluate SOURCE ANSWER --lift TARGET` gives an answer of the smaller problem the values that were removed.
    """
    from dabp.formats import write
    from dabp.presolve import presolve as simplify

    to = to_format(target, to)
    check_target(target, to)
    check_apart({"TARGET": target}, [source])
    reduced = simplify(read_problem(source, format, max_cells, max_bytes))
    report(reduced.summary)
    if reduced.infeasible:
        raise typer.Exit(1)
    report(write(reduced.named(), target, to))
