"""Options that several commands share, and how their text becomes values."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.errors import ParameterError

if TYPE_CHECKING:
    from dabp.problem import Problem

Format = Annotated[
    str | None, typer.Option("--format", "-f", help="Format of the file, if its suffix does not tell (needed for -).")
]
MaxCells = Annotated[
    int | None, typer.Option("--max-cells", help="Refuse problems with more costs than this.", show_default=False)
]
MaxBytes = Annotated[
    int | None, typer.Option("--max-bytes", help="Refuse files that unpack to more bytes.", show_default=False)
]


def read_problem(file: str, format: str | None, max_cells: int | None, max_bytes: int | None) -> Problem:
    """Read a problem as the options ask; ``-`` is standard input."""
    from dabp.formats import read

    return read(file, format, max_cells=max_cells, max_bytes=max_bytes)


def pairs(texts: list[str], option: str) -> dict[str, str]:
    """``name=value`` texts as a dictionary."""
    result = {}
    for text in texts:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise ParameterError(f"{option} takes name=value, not {text!r}")
        result[key.strip()] = value.strip()
    return result


def available_cores() -> int:
    """Cores that this process may use: fewer than the machine's in a container or a batch job."""
    affinity = getattr(os, "sched_getaffinity", None)  # not on every system
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1
