"""``dabp solvers``: what there is, with parameters and defaults."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from dabp.cli.completion import complete_solver


def solvers(
    name: Annotated[str | None, typer.Argument(help="A solver, for its page.", autocompletion=complete_solver)] = None,
) -> None:
    """List the solvers, or show one: what it is, its parameters, when to use it."""
    from rich.table import Table

    from dabp.cli.display import console
    from dabp.solvers import SOLVERS, entry, parameters

    if name is None:
        table = Table("solver", "what it is")
        for key, line in sorted(SOLVERS.items(), key=lambda row: row[0] != "auto"):  # the default first
            table.add_row(key, line.summary if line.installed else f"{line.summary} (not installed)")
        console().print(table)
        print("dabp solvers NAME shows parameters and when to use it.")
        return
    line = entry(name)
    print(f"{name}: {line.summary}\n")
    print(inspect.cleandoc(line.load().__doc__ or ""))
    print()
    table = Table("parameter", "type", "default")
    for key, (kind, default) in parameters(name).items():
        table.add_row(key, _type_name(kind), "–" if default is None else str(default))
    console().print(table)


def _type_name(kind: Any) -> str:
    return kind.__name__ if isinstance(kind, type) else str(kind).replace(" | None", "")
