"""``dabp info``: what is in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dabp.cli.options import Format, MaxBytes, MaxCells, read_problem

if TYPE_CHECKING:
    from dabp.problem import Problem


def info(
    file: Annotated[str, typer.Argument(help="Problem file, or - for standard input.")],
    presolve: Annotated[bool, typer.Option("--presolve", help="Also say what presolve removes.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Show a problem's variables, domains, factors and costs."""
    problem = read_problem(file, format, max_cells, max_bytes)
    facts = describe(problem)
    if presolve:
        from dabp.presolve import presolve as simplify

        reduction = simplify(problem.minimized())
        facts["presolve"] = "infeasible" if reduction.infeasible else list(reduction.summary)
        facts["presolved"] = describe(reduction.problem)
    if as_json:
        print(json.dumps(facts, allow_nan=False))
        return
    _print(facts)


def _print(facts: dict[str, Any], indent: str = "") -> None:
    from dabp.problem.shown import shown

    for key, value in facts.items():
        if isinstance(value, dict) and key == "presolved":
            print(f"{indent}{key}:")
            _print(value, indent + "  ")
        elif isinstance(value, dict):
            print(f"{indent}{key:12s} " + ", ".join(f"{count} of {what}" for what, count in value.items()))
        elif isinstance(value, list):
            print(f"{indent}{key:12s} " + ("; ".join(map(str, value)) or "nothing"))
        else:
            print(f"{indent}{key:12s} {shown(str(value))}")


def describe(problem: Problem) -> dict[str, Any]:
    """The facts about a problem, as JSON values."""
    import numpy as np

    finite = problem.pool[np.isfinite(problem.pool)]
    degrees = np.bincount(problem.scope_variables, minlength=problem.num_variables)
    forbidden = int(len(problem.pool) - len(finite))
    return {
        "name": problem.name,
        "objective": "maximise" if problem.maximize else "minimise",
        "variables": problem.num_variables,
        "domains": {
            f"size {s}": int(c) for s, c in zip(*np.unique(problem.domain_sizes, return_counts=True), strict=True)
        },
        "factors": problem.num_factors,
        "arities": {f"arity {a}": int(c) for a, c in zip(*np.unique(problem.arities, return_counts=True), strict=True)},
        "degree": f"mean {degrees.mean():.1f}, max {degrees.max()}" if problem.num_variables else "–",
        "costs": f"{len(problem.pool)} in {len(problem.pool_offsets) - 1} tables, {forbidden} forbidden",
        "range": f"{finite.min():g} to {finite.max():g}" + (", integers" if problem.integral else "")
        if len(finite)
        else "–",
        "constant": problem.constant,
    }
