"""``dabp uai``: the calling convention of the UAI competitions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from dabp.errors import ParameterError

if TYPE_CHECKING:
    from dabp.driver.stopping import Progress
    from dabp.problem import Assignment


def uai(
    model: Annotated[Path, typer.Argument(help="Model file (.uai, .LG).")],
    evidence: Annotated[Path, typer.Argument(help="Evidence file; an empty one is no evidence.")],
    query: Annotated[Path, typer.Argument(help="Query file; MPE has none, so it is not read.")],
    task: Annotated[str, typer.Argument(help="MPE.")],
    seed: Annotated[int, typer.Option("--seed", help="Seed of all randomness.")] = 0,
) -> None:
    """Find the most probable explanation within INF_TIME seconds, as the UAI competitions call solvers.

    The answer is in MODEL.MPE in the current folder from the start and replaced whole at each improvement, so
    that a valid one is there whenever the process is killed. INF_MEMORY limits the memory in gigabytes.
    """
    from dabp.driver.solve import solve
    from dabp.formats import read
    from dabp.formats.evidence import read_evidence

    if task.upper() != "MPE":
        raise ParameterError(f"the task is MPE, not {task!r}; no other is supported")
    seconds = _setting("INF_TIME", 60.0)
    memory = _setting("INF_MEMORY", None)
    problem = read(model, "lg" if ".lg" in model.name.lower() else "uai")
    observed = read_evidence(evidence, problem)
    answer = Path(f"{model.name}.MPE")
    first = problem.domain_sizes * 0
    for variable, value in observed.items():
        first[variable] = value
    _replace(answer, first)

    def improved(progress: Progress) -> None:
        if progress.improved and progress.assignment is not None:
            _replace(answer, progress.assignment)

    result = solve(
        problem,
        time_limit=None if seconds is None else max(0.5, seconds - min(2.0, 0.05 * seconds)),
        memory_limit=None if memory is None else int(memory * 1e9),
        fix={problem.names.variable(i): problem.names.labels(i)[v] for i, v in observed.items()},
        initial=first,
        seed=seed,
        callbacks=[improved],
    )
    if result.assignment is not None:
        _replace(answer, result.assignment)
    if not result.feasible:
        raise typer.Exit(1)


def _setting(name: str, default: float | None) -> float | None:
    text = os.environ.get(name, "")
    if not text:
        return default
    try:
        value = float(text)
    except ValueError:
        value = -1.0
    if not value > 0:
        raise ParameterError(f"{name} is a positive number, not {text!r}")
    return value


def _replace(path: Path, assignment: Assignment) -> None:
    from dabp.formats.solution import as_mpe
    from dabp.safe_files import replacing

    with replacing(path) as stream:
        stream.write(as_mpe(assignment))
