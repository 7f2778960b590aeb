"""``dabp solve``: from a file to the best answer."""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from dabp.cli.options import Format, MaxBytes, MaxCells, available_cores, pairs, read_problem
from dabp.cli.paths import check_input, check_output, check_problems
from dabp.errors import FormatError, ParameterError

if TYPE_CHECKING:
    from dabp.driver.result import Result
    from dabp.driver.trace import Trace
    from dabp.problem import Assignment, Label, Problem

DEFAULT_SECONDS = 30.0
"""How long `auto` may take when no limit is given."""


def solve(
    files: Annotated[list[str], typer.Argument(help="Problem files, or - for standard input.")],
    solver: Annotated[str, typer.Option("--solver", "-s", help="Solver; `dabp solvers` lists them.")] = "auto",
    time: Annotated[float | None, typer.Option("--time", "-t", help="Seconds.", show_default=False)] = None,
    iterations: Annotated[
        int | None, typer.Option("--iterations", "-i", help="Iterations.", show_default=False)
    ] = None,
    target: Annotated[float | None, typer.Option("--target", help="Stop at a cost as good as this.")] = None,
    stagnation: Annotated[
        int | None, typer.Option("--stagnation", help="Stop after so many iterations without improvement.")
    ] = None,
    memory: Annotated[int | None, typer.Option("--memory", help="Stop when the process holds more MB.")] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seed of all randomness.")] = 0,
    threads: Annotated[
        int | None, typer.Option("--threads", help="Cores to use; by default all for auto, one for others.")
    ] = None,
    param: Annotated[
        list[str] | None, typer.Option("--param", "-p", help="A solver's parameter, name=value; repeatable.")
    ] = None,
    fix: Annotated[list[str] | None, typer.Option("--fix", help="Hold a variable, name=value; repeatable.")] = None,
    initial: Annotated[Path | None, typer.Option("--initial", help="Solution file to start from.")] = None,
    presolve: Annotated[
        bool | None, typer.Option("--presolve/--no-presolve", help="Simplify first (default: as the solver asks).")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option("--checkpoint", help="Save the state here every few seconds.")
    ] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Continue from the checkpoint.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the solution (.json, .sol, .MPE).")
    ] = None,
    trace: Annotated[Path | None, typer.Option("--trace", help="Write the history as JSON lines.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No live display.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show what each member of auto does.")] = False,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", help="Evidence file of a .uai problem: holds its variables.")
    ] = None,
    format: Format = None,
    max_cells: MaxCells = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Find an assignment of least cost, within a time limit or until it is proved.

    Ctrl-C ends it with the best answer so far. Exit code 0: an answer; 1: none found or none exists; 2: wrong input,
    or a file that cannot be written.
    """
    from dabp.formats.solution import read_solution

    if len(files) > 1 and (output or trace or checkpoint or initial):
        raise ParameterError("--output, --trace, --checkpoint and --initial go with one file")
    options: dict[str, Any] = {
        "params": pairs(param or [], "--param"),
        "time_limit": time,
        "max_iterations": iterations,
        "target": target,
        "stagnation": stagnation,
        "memory_limit": None if memory is None else memory * 1_000_000,
        "seed": seed,
        "threads": threads if threads is not None else available_cores() if solver == "auto" else 1,
        "fix": pairs(fix or [], "--fix"),
        "presolve": presolve,
        "checkpoint": checkpoint,
        "resume": resume,
    }
    unlimited = solver == "auto" and time is None and iterations is None
    if unlimited:
        options["time_limit"] = DEFAULT_SECONDS
    check_problems(files, format)
    check_input(initial)
    check_input(evidence)
    check_output(output)
    check_output(trace)
    check_output(checkpoint, replaced=True)
    rows: list[tuple[Problem, Result]] = []
    try:
        for file in files:
            problem = read_problem(file, format, max_cells, max_bytes)
            held = {**options, "fix": {**_observed(problem, evidence), **options["fix"]}}
            start = None if initial is None else read_solution(initial, problem)
            for name, value in held["fix"].items():
                problem.value_index(problem.variable_index(name), value)  # complains before anything is announced
            if unlimited and not (rows or as_json or quiet):
                print(f"dabp: no limit given, stopping after {DEFAULT_SECONDS:.0f} s (--time)", file=sys.stderr)
            result = _solved(problem, solver, held, start, quiet=quiet, verbose=verbose)
            rows.append((problem, result))
            _save(problem, result, output, trace)
            if result.status.value == "INTERRUPTED":
                break
    finally:  # whatever failed beside them, answers that were found are shown
        if rows:
            _show(rows, as_json, several=len(files) > 1)
    if not all(result.feasible for _, result in rows):
        raise typer.Exit(1)


def _observed(problem: Problem, evidence: Path | None) -> dict[str, Label]:
    if evidence is None:
        return {}
    from dabp.formats.uai import read_evidence

    return {problem.variable_name(i): problem.labels(i)[v] for i, v in read_evidence(evidence, problem).items()}


def _solved(
    problem: Problem, solver: str, options: dict[str, Any], initial: Assignment | None, *, quiet: bool, verbose: bool
) -> Result:
    from dabp.cli.display import LiveDisplay
    from dabp.driver.solve import solve as run
    from dabp.kernels.compilation import compilation

    with LiveDisplay(options["time_limit"], quiet=quiet, verbose=verbose) as display, warnings.catch_warnings():
        warnings.showwarning = lambda message, *_, **__: print(f"dabp: {message}", file=sys.stderr)
        compilation.notice = display.compiling
        try:
            return run(problem, solver, initial=initial, callbacks=[display], **options)
        finally:
            compilation.notice = None


def _save(problem: Problem, result: Result, output: Path | None, trace: Path | None) -> None:
    """Write what was asked for, each whether or not the other can be; if neither, the solution's error is told."""
    try:
        if trace is not None:
            _write_trace(result.trace, trace)
    finally:
        if output is not None:
            _write_answer(problem, result, output)


def _write_answer(problem: Problem, result: Result, path: Path) -> None:
    """Write a solution; that there is none is an answer, too, which a file of values has no words for."""
    from dabp.formats.solution import holds_values_only, write_solution

    if result.assignment is None and holds_values_only(path):
        print(f"dabp: {path}: not written, there is no assignment to write (JSON can say so)", file=sys.stderr)
    else:
        write_solution(result, problem, path)


def _write_trace(trace: Trace, path: Path) -> None:
    try:
        trace.save(path)
    except OSError as error:
        raise FormatError(f"it cannot be written ({error.strerror or error})", source=str(path)) from None


def _show(rows: list[tuple[Problem, Result]], as_json: bool, *, several: bool) -> None:
    """Show the answers; `several` files give one form of JSON, however many were solved in the end."""
    if as_json:
        facts = [result.to_dict(problem) for problem, result in rows]
        print(json.dumps({"results": facts} if several else facts[0], allow_nan=False))
        return
    from dabp.cli.display import print_comparison, print_summary

    if len(rows) == 1:
        print_summary(*rows[0])
    else:
        print_comparison(rows)
