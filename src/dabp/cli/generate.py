"""``dabp generate``: instances of the paper's families."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dabp.cli.completion import complete_family, complete_format
from dabp.cli.paths import check_target


def generate(
    family: Annotated[
        str,
        typer.Argument(help="random-cop, graph-coloring, scale-free or small-world.", autocompletion=complete_family),
    ],
    variables: Annotated[int | None, typer.Option("--variables", "-n", help="Number of variables.")] = None,
    domain: Annotated[int | None, typer.Option("--domain", "-d", help="Values of each variable.")] = None,
    density: Annotated[float | None, typer.Option("--density", help="p1 of random-cop and graph-coloring.")] = None,
    m0: Annotated[int | None, typer.Option("--m0", help="Vertices a scale-free network starts with.")] = None,
    m1: Annotated[int | None, typer.Option("--m1", help="Edges of each later vertex of a scale-free network.")] = None,
    k: Annotated[int | None, typer.Option("--k", help="Nearest neighbours in a small-world network.")] = None,
    p: Annotated[float | None, typer.Option("--p", help="Probability of a shortcut in a small-world network.")] = None,
    max_cost: Annotated[int | None, typer.Option("--max-cost", help="Largest cost.")] = None,
    variant: Annotated[
        str | None, typer.Option("--variant", help="authors (default) or text, where they differ.")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Decides everything.")] = 0,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - for standard output.")] = "-",
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="Format, if the suffix does not tell (default: xml).", autocompletion=complete_format
        ),
    ] = None,
) -> None:
    """Generate a problem of one of the paper's families; sizes default to the paper's."""
    from dabp.formats import write
    from dabp.generators import generate as make

    format = to or ("xml" if output == "-" else None)
    check_target(output, format)
    given = {
        "variables": variables,
        "domain": domain,
        "density": density,
        "m0": m0,
        "m1": m1,
        "k": k,
        "p": p,
        "max_cost": max_cost,
        "variant": variant,
    }
    problem = make(family, seed=seed, **{key: value for key, value in given.items() if value is not None})
    for note in write(problem, output, format):
        print(f"dabp: {note}", file=sys.stderr)
