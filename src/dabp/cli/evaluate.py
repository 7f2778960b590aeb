"""``dabp evaluate``: a solution against its problem."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.cli.options import Format, MaxBytes, MaxCells, read_problem

if TYPE_CHECKING:
    from dabp.problem import FactorCost


def evaluate(
    file: Annotated[str, typer.Argument(help="Problem file.")],
    solution: Annotated[Path, typer.Argument(help="Solution file (.json, .sol, .MPE).")],
    top: Annotated[int, typer.Option("--top", help="How many factors to list.")] = 10,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Recompute a solution's cost, and list the violated and the costliest factors.

    Exit code 1 if the solution violates a constraint.
    """
    from dabp.formats.solution import read_solution

    problem = read_problem(file, format, max_cells, max_bytes)
    assignment = read_solution(solution, problem)
    cost = problem.cost(assignment)
    feasible = math.isfinite(cost) and problem.within_limit(cost)
    lines = problem.explain(assignment, limit=top)
    violated = sum(math.isinf(each) for each in problem.factor_costs(assignment).tolist())
    if as_json:
        rows = [
            {
                "factor": line.name,
                "scope": line.scope,
                "values": line.values,
                "cost": line.cost if math.isfinite(line.cost) else None,
                "violated": line.violated,
            }
            for line in lines
        ]
        facts = {"problem": problem.name, "cost": cost if feasible else None, "violated": violated, "factors": rows}
        print(json.dumps(facts, allow_nan=False))
    else:
        _print(problem.name, cost, violated, lines)
        if math.isfinite(cost) and not feasible:
            print(f"not feasible: the file asks for a total better than {problem.limit:g}")
    if not feasible:
        raise typer.Exit(1)


def _print(name: str, cost: float, violated: int, lines: list[FactorCost]) -> None:
    from rich.table import Table

    from dabp.cli.display import console, number
    from dabp.problem.shown import shown

    print(f"{shown(name)}: cost {number(cost) if math.isfinite(cost) else 'infinite'}, {violated} violated")
    table = Table("factor", "variables", "cost")
    for line in lines:
        taken = ", ".join(shown(f"{n}={v}") for n, v in zip(line.scope, line.values, strict=True))
        table.add_row(shown(line.name), taken, "violated" if line.violated else number(line.cost))
    console().print(table)
