"""``dabp info``: what is in a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dabp.cli.options import AsJson, Format, MaxBytes, MaxCells, ProblemFile, read_problem

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from dabp.problem import Problem


def info(
    file: ProblemFile,
    presolve: Annotated[bool, typer.Option("--presolve", help="Also say what presolve removes.")] = False,
    as_json: AsJson = False,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Show a problem's variables, domains, factors and costs."""
    problem = read_problem(file, format, max_cells, max_bytes)
    facts = describe(problem)
    if presolve:
        from dabp.presolve import presolve as simplify
        from dabp.problem.facts import minimized

        reduction = simplify(minimized(problem))
        facts["presolve"] = "infeasible" if reduction.infeasible else list(reduction.summary)
        facts["presolved"] = describe(reduction.problem)
    if as_json:
        print(json.dumps(facts, allow_nan=False))
        return
    print_facts(facts)


def print_facts(facts: dict[str, Any], indent: str = "") -> None:
    """Print the facts of `describe`, a line each."""
    from dabp.problem.shown import shown

    for key, value in facts.items():
        if key == "presolved":
            print(f"{indent}{key}:")
            print_facts(value, indent + "  ")
        else:
            print(f"{indent}{key:12s} {shown(_words(key, value))}")


def _words(key: str, value: Any) -> str:
    """A fact for people."""
    if key == "presolve" and not isinstance(value, str):
        value = [line.removeprefix("presolve: ") for line in value]
    if key in ("domains", "arities"):
        what = "size" if key == "domains" else "arity"
        return ", ".join(f"{count} of {what} {number}" for number, count in value.items())
    if value is None:
        return "–"
    if key == "degree":
        return f"mean {value['mean']:.1f}, max {value['max']}"
    if key == "costs":
        return f"{value['cells']} in {value['tables']} tables, {value['forbidden']} forbidden"
    if key == "range":
        return f"{value['min']:g} to {value['max']:g}" + (", integers" if value["integers"] else "")
    return ("; ".join(map(str, value)) or "nothing") if isinstance(value, list) else str(value)


def describe(problem: Problem) -> dict[str, Any]:
    """The facts about a problem, as JSON values; None where there is nothing to count."""
    import numpy as np

    finite = problem.pool[np.isfinite(problem.pool)]
    degrees = np.bincount(problem.scope_variables, minlength=problem.num_variables)
    return {
        "name": problem.name,
        "objective": "maximise" if problem.maximize else "minimise",
        "variables": problem.num_variables,
        **({"auxiliary": problem.auxiliaries.count} if problem.auxiliaries.count else {}),
        "domains": _counted(problem.domain_sizes),
        "factors": problem.num_factors,
        "arities": _counted(problem.arities),
        "degree": {"mean": float(degrees.mean()), "max": int(degrees.max())} if problem.num_variables else None,
        "costs": {
            "cells": len(problem.pool),
            "tables": len(problem.pool_offsets) - 1,
            "forbidden": len(problem.pool) - len(finite),
        },
        "range": {"min": float(finite.min()), "max": float(finite.max()), "integers": problem.facts.integral}
        if len(finite)
        else None,
        "constant": problem.constant,
    }


def _counted(numbers: NDArray[np.int64]) -> dict[str, int]:
    """How often each number occurs; JSON's keys are text."""
    import numpy as np

    return {str(one): int(count) for one, count in zip(*np.unique(numbers, return_counts=True), strict=True)}
