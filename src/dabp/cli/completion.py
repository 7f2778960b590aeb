"""What a shell offers when a name is half typed: solvers, their parameters, families, formats.

``dabp --install-completion`` sets it up. Names are looked up when asked for, so that other commands import nothing.
"""

from __future__ import annotations

import typer


def complete_solver(incomplete: str) -> list[tuple[str, str]]:
    """Solvers, with what they are."""
    from dabp.solvers import SOLVERS

    return [(name, line.summary) for name, line in SOLVERS.items() if name.startswith(incomplete)]


def complete_parameter(context: typer.Context, incomplete: str) -> list[tuple[str, str]]:
    """``name=`` of the parameters of the solver that was named before, with their defaults."""
    from dabp.errors import DabpError
    from dabp.solvers import parameters

    try:
        known = parameters(context.params.get("solver") or "auto")
    except DabpError:
        return []
    return [(f"{name}=", f"default {value}") for name, (_, value) in known.items() if name.startswith(incomplete)]


def complete_family(incomplete: str) -> list[str]:
    """Families of generated problems."""
    from dabp.lab.generators import GENERATORS

    return [name for name in GENERATORS if name.startswith(incomplete)]


def complete_family_parameter(context: typer.Context, incomplete: str) -> list[str]:
    """``name=`` of the parameters of the family that was named before."""
    import inspect

    from dabp.errors import DabpError
    from dabp.lab.generators import generator_function

    family = context.params.get("family") or next(iter(context.args), "")  # not parsed yet while --param has no value
    try:
        known = inspect.signature(generator_function(family)).parameters
    except DabpError:
        return []
    return [f"{name}=" for name in known if name.startswith(incomplete)]


def complete_format(incomplete: str) -> list[str]:
    """Formats of problem files."""
    from dabp.formats import FORMATS

    return [name for name in FORMATS if name.startswith(incomplete)]
