"""``dabp explain``: why an answer costs what it costs, or why there is none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.cli.evaluate import evaluate
from dabp.cli.options import (
    AsJson,
    Fix,
    Format,
    MaxBytes,
    MaxCells,
    ProblemFile,
    Top,
    check_fixed,
    pairs,
    read_problem,
)
from dabp.errors import ParameterError

if TYPE_CHECKING:
    from dabp.driver.conflict import Conflict


def explain(
    file: ProblemFile,
    solution: Annotated[
        Path | None, typer.Argument(help="Solution file (.json, .sol, .MPE, .csv); not with --conflict.")
    ] = None,
    conflict: Annotated[
        bool, typer.Option("--conflict", help="Look for few hard constraints that contradict each other.")
    ] = False,
    top: Top = 10,
    time: Annotated[
        float, typer.Option("--time", "--time-limit", "-t", metavar="SECONDS", help="Time limit of --conflict.")
    ] = 60.0,
    fix: Fix = None,
    as_json: AsJson = False,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Say why a solution costs what it costs, as `dabp evaluate`, or with --conflict why a problem has none.

    A conflict is minimal: without any one of its constraints the others can be satisfied. If time ends before that is
    proved, it says so. Exit code 0: a conflict; 1: there is none, or it is not clear.
    """
    if conflict == (solution is not None):
        raise ParameterError("explain takes a solution file, or --conflict")
    if solution is not None:
        evaluate(file, solution, top=top, as_json=as_json, format=format, max_cells=max_cells, max_bytes=max_bytes)
        return
    from dabp.driver.conflict import conflict as find

    problem = read_problem(file, format, max_cells, max_bytes)
    fixed = pairs(fix or [], "--fix")
    check_fixed(problem, fixed)
    found = find(problem, time_limit=time, fix=fixed)
    if as_json:
        print(json.dumps({"problem": problem.name, **_facts(found)}))
    else:
        _print(problem.name, found)
    if found is None or not found.proved:
        raise typer.Exit(1)


def _facts(found: Conflict | None) -> dict[str, object]:
    if found is None:
        return {"conflict": None, "proved": True, "minimal": None, "sentence": "the problem is feasible"}
    listed = [
        {"constraint": name, "scope": list(scope)} for name, scope in zip(found.constraints, found.scopes, strict=True)
    ]
    known = {"proved": found.proved, "minimal": found.minimal, "sentence": found.sentence}
    return {"conflict": listed if found.proved else None, **known}


def _print(problem: str, found: Conflict | None) -> None:
    from dabp.problem.shown import shown

    if found is None:
        print(f"{shown(problem)}: the problem is feasible, there is no conflict")
        return
    print(f"{shown(problem)}: {found.sentence}")
    if found.proved:
        for name, scope in zip(found.constraints, found.scopes, strict=True):
            rest = f", … {len(scope) - 8} more" if len(scope) > 8 else ""
            print(f"  {shown(name)} ({shown(', '.join(scope[:8]))}{rest})")
