"""``dabp evaluate``: a solution against its problem."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dabp.cli.options import AsJson, Format, MaxBytes, MaxCells, ProblemFile, Top, read_problem
from dabp.cli.paths import check_answer, check_apart, check_input
from dabp.errors import ParameterError

if TYPE_CHECKING:
    from dabp.problem import Assignment, FactorCost, Problem


def evaluate(
    file: ProblemFile,
    solution: Annotated[Path, typer.Argument(help="Solution file (.json, .sol, .MPE, .csv).")],
    top: Top = 10,
    lift: Annotated[
        str | None,
        typer.Option(
            "--lift", metavar="FILE", help="The file of `dabp presolve`, if the solution is one of that problem."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write the solution, lifted or in another form (.json, .sol, .MPE, .csv)."),
    ] = None,
    as_json: AsJson = False,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Recompute a solution's cost, and list the violated and the costliest factors.

    Exit code 1 if the solution violates a constraint.
    """
    from dabp.driver.wording import number
    from dabp.formats.solution import read_solution, write_assignment

    check_input(solution)
    check_input(lift)
    check_answer(output)
    check_apart({"--output": output}, [file, lift])
    problem = read_problem(file, format, max_cells, max_bytes)
    smaller = None if lift is None else read_problem(lift, None, max_cells, max_bytes)
    assignment = read_solution(solution, smaller or problem)
    if smaller is not None:
        assignment = lifted(problem, smaller, assignment)
    if output is not None:
        write_assignment(assignment, problem, output)
    from dabp.problem.facts import within_limit

    cost = problem.cost(assignment)
    feasible = math.isfinite(cost) and within_limit(problem, cost)
    lines = problem.explain(assignment, limit=top)
    violated = sum(math.isinf(each) for each in problem.factor_costs(assignment).tolist())
    if as_json:
        rows = [_row(line) for line in lines]
        facts = {"problem": problem.name, "cost": cost if feasible else None, "violated": violated, "factors": rows}
        print(json.dumps(facts, allow_nan=False))
    else:
        print_factors(problem.name, cost, violated, lines)
        if math.isfinite(cost) and not feasible:
            print(f"not feasible: the file asks for a total better than {number(problem.limit)}")
    if not feasible:
        raise typer.Exit(1)


def _row(line: FactorCost) -> dict[str, Any]:
    """What a factor costs, as JSON values."""
    cost = line.cost if math.isfinite(line.cost) else None
    return {"factor": line.name, "scope": line.scope, "values": line.values, "cost": cost, "violated": line.violated}


def lifted(problem: Problem, smaller: Problem, assignment: Assignment) -> Assignment:
    """An assignment of the problem from one of `smaller`, which presolve leaves of it.

    Presolve draws nothing at random, so it is done again; that it leaves `smaller` is checked.
    """
    from dabp.presolve import presolve

    reduction = presolve(problem)
    left = reduction.named()
    same = left.domain_sizes.tolist() == smaller.domain_sizes.tolist()
    if smaller.names.variable_names:
        same = same and list(left.names.variables) == list(smaller.names.variables)
    if reduction.infeasible or not same:
        raise ParameterError(
            f"{smaller.name!r} is not what presolve leaves of {problem.name!r}; write it anew with `dabp presolve`"
        )
    return reduction.lift(assignment)


def print_factors(name: str, cost: float, violated: int, lines: list[FactorCost]) -> None:
    """Print the cost of a solution and a table of factors."""
    from rich.table import Table

    from dabp.cli.display import console
    from dabp.driver.wording import number
    from dabp.problem.shown import shown

    print(f"{shown(name)}: cost {number(cost) if math.isfinite(cost) else 'infinite'}, {violated} violated")
    table = Table("factor", "variables", "cost")
    for line in lines:
        taken = ", ".join(shown(f"{n}={v}") for n, v in zip(line.scope, line.values, strict=True))
        table.add_row(shown(line.name), taken, "violated" if line.violated else number(line.cost))
    console().print(table)
