"""``dabp generate``: instances of benchmark families."""

from __future__ import annotations

from typing import Annotated

import typer

from dabp.cli.completion import complete_family, complete_family_parameter
from dabp.cli.options import Output, To, pairs, report, to_format
from dabp.cli.paths import check_target
from dabp.errors import ParameterError

SETTINGS = {"allow_extra_args": True, "ignore_unknown_options": True}
"""Options of earlier versions, one for each parameter, reach `generate`, which says how they are written now."""


def generate(
    context: typer.Context,
    family: Annotated[
        str,
        typer.Argument(
            help="random-cop, graph-coloring, scale-free, small-world, ising, meetings or secp.",
            autocompletion=complete_family,
        ),
    ],
    param: Annotated[
        list[str] | None,
        typer.Option(
            "--param",
            "-p",
            metavar="NAME=VALUE",
            help="A parameter of the family; repeatable.",
            autocompletion=complete_family_parameter,
        ),
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of all randomness.")] = 0,
    output: Output = "-",
    to: To = None,
) -> None:
    """Generate a problem of one of the paper's families, or of one of pyDCOP's.

    Sizes that are not given are the paper's. Parameters of ising, meetings and secp are pyDCOP's.
    """
    from dabp.formats import write
    from dabp.lab.generators import generate as make

    if context.args:
        option, _, value = "=".join(context.args[:2]).partition("=")
        name = {"-n": "variables", "-d": "domain"}.get(option, option.lstrip("-").replace("-", "_"))
        raise ParameterError(f"there is no option {option!r}; write --param {name}={value or 'VALUE'}")
    format = to_format(output, to)
    check_target(output, format)
    given = {key.replace("-", "_"): _value(text) for key, text in pairs(param or [], "--param").items()}
    report(write(make(family, **given, seed=seed), output, format))


def _value(text: str) -> int | float | str:
    """A number if the text is one."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            pass
    return text
