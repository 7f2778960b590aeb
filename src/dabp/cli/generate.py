"""``dabp generate``: instances of benchmark families."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from dabp.cli.completion import complete_family, complete_format
from dabp.cli.paths import check_target

RowCount = Annotated[int | None, typer.Option("--row-count", help="Rows of ising.")]
ColCount = Annotated[int | None, typer.Option("--col-count", help="Columns of ising.")]
BinRange = Annotated[float | None, typer.Option("--bin-range", help="Largest coupling of ising.")]
UnRange = Annotated[float | None, typer.Option("--un-range", help="Largest field of ising.")]
SlotsCount = Annotated[int | None, typer.Option("--slots-count", help="Slots of time of meetings.")]
EventsCount = Annotated[int | None, typer.Option("--events-count", help="Number of meetings.")]
ResourcesCount = Annotated[int | None, typer.Option("--resources-count", help="Resources of meetings.")]
MaxResourcesEvent = Annotated[
    int | None, typer.Option("--max-resources-event", help="Resources that a meeting needs at most.")
]
MaxLengthEvent = Annotated[int | None, typer.Option("--max-length-event", help="Slots that a meeting takes at most.")]
MaxResourceValue = Annotated[
    int | None, typer.Option("--max-resource-value", help="Largest worth of a slot of meetings.")
]
Lights = Annotated[int | None, typer.Option("--lights", help="Lights of secp.")]
Models = Annotated[int | None, typer.Option("--models", help="Models of secp.")]
Rules = Annotated[int | None, typer.Option("--rules", help="Rules of secp.")]
MaxModelSize = Annotated[int | None, typer.Option("--max-model-size", help="Lights of a model of secp at most.")]
MaxRuleSize = Annotated[
    int | None, typer.Option("--max-rule-size", help="Lights and models of a rule of secp at most.")
]


def generate(
    family: Annotated[
        str,
        typer.Argument(
            help="random-cop, graph-coloring, scale-free, small-world, ising, meetings or secp.",
            autocompletion=complete_family,
        ),
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
    row_count: RowCount = None,
    col_count: ColCount = None,
    bin_range: BinRange = None,
    un_range: UnRange = None,
    slots_count: SlotsCount = None,
    events_count: EventsCount = None,
    resources_count: ResourcesCount = None,
    max_resources_event: MaxResourcesEvent = None,
    max_length_event: MaxLengthEvent = None,
    max_resource_value: MaxResourceValue = None,
    lights: Lights = None,
    models: Models = None,
    rules: Rules = None,
    max_model_size: MaxModelSize = None,
    max_rule_size: MaxRuleSize = None,
    seed: Annotated[int, typer.Option("--seed", help="Decides everything.")] = 0,
    output: Annotated[str, typer.Option("--output", "-o", help="File to write, or - for standard output.")] = "-",
    to: Annotated[
        str | None,
        typer.Option(
            "--to", help="Format, if the suffix does not tell (default: xml).", autocompletion=complete_format
        ),
    ] = None,
) -> None:
    """Generate a problem of one of the paper's families, sizes as in the paper, or of one of pyDCOP's.

    Options of ising, meetings and secp are pyDCOP's, with hyphens or with underscores (--row_count).
    """
    given = {key: value for key, value in locals().items() if key not in ("family", "seed", "output", "to")}
    from dabp.formats import write
    from dabp.lab.generators import generate as make

    format = to or ("xml" if output == "-" else None)
    check_target(output, format)
    problem = make(family, seed=seed, **{key: value for key, value in given.items() if value is not None})
    for note in write(problem, output, format):
        print(f"dabp: {note}", file=sys.stderr)
