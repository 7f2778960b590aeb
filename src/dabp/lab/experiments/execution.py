"""One run, from its instance to the lines of its result file. Called in the run's own process."""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import dabp
from dabp.driver.result import Result
from dabp.driver.trace import Trace
from dabp.errors import DabpError, ParameterError
from dabp.lab.experiments.experiment_plan import Run
from dabp.lab.experiments.prefixes import RESTARTS, Glances, carried
from dabp.lab.experiments.result_schema import FORMAT
from dabp.lab.experiments.trust import is_own, own_solver
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Solver
from dabp.solvers.status import Status

RESTART = ("restart", "iterations", "converged")
"""What results keep of the trace's records (and ``settled``): which restarts converged, and when."""

ALLOCATION = ("allocate memory", "bad_alloc")
"""How PyTorch and toulbar2 say that there is no more memory."""


def execute(run: Run, trust: Sequence[str] = ()) -> list[str]:
    """Solve and tell: a summary line, then the trace's lines. What fails is told in the summary.

    `trust` are the modules that solvers of the user's own may come from.
    """
    started = time.perf_counter()
    try:
        problem = instance_of(run)
        made = time.perf_counter()
        glances = Glances(run, started)
        result = dabp.solve(
            problem,
            _solver(run, trust),
            time_limit=math.inf if run.limits.time is None else run.limits.time,
            max_iterations=run.limits.iterations,
            seed=run.seed,
            callbacks=[glances] if run.shorter else [],
        )
        traced = _trace_lines(result.trace)
    except Exception as error:  # a run's bug is that run's result
        return [json.dumps(_failed(run, error))]
    if result.status is Status.INTERRUPTED:
        return [json.dumps(failure(run, "crash", "a signal told it to stop"))]
    summary = {**identity(run), **_outcome(result, problem)}
    summary["generation_time"] = round(made - started, 4)
    shorter = [
        carried({**summary, **identity(each), **outcome}, traced, each.parameters[RESTARTS])
        for each, outcome in glances.results()
    ]
    return [json.dumps(summary), *traced, *shorter]


def identity(run: Run) -> dict[str, Any]:
    """What every result says about its run."""
    data = run.to_dict()
    for label in ("group", "series", "swept", "shorter"):
        data.pop(label, None)
    return {**data, "format": FORMAT, "instance_key": run.instance_key, "version": dabp.__version__}


def failure(run: Run, kind: str, detail: str) -> dict[str, Any]:
    """The summary of a run without a result; `kind` is memory, timeout, crash, error or lost."""
    return {**identity(run), "state": "failed", "reason": kind, "detail": detail}


def _failed(run: Run, error: Exception) -> dict[str, Any]:
    text = str(error)
    if isinstance(error, MemoryError) or any(words in text for words in ALLOCATION):
        return failure(run, "memory", f"could not allocate: {text}" if text else "out of memory")
    return failure(run, "error", text if isinstance(error, DabpError) else f"{type(error).__name__}: {text}")


def _outcome(result: Result, problem: Problem) -> dict[str, Any]:
    return {
        "state": "done",
        "cost": result.cost,
        "bound": _finite(result.bound),
        "status": result.status.value,
        "iterations": result.iterations,
        "runtime": round(result.runtime, 4),
        "variables": problem.num_variables,
        "constraints": problem.facts.num_constraints,
        "maximize": problem.maximize,
        "assignment": None if result.assignment is None else np.asarray(result.assignment).tolist(),
    }


def instance_of(run: Run) -> Problem:
    """The problem of a run, made or read again."""
    spec = run.instance
    if "family" in spec:
        return dabp.generate(spec["family"], **spec["parameters"], seed=spec["seed"])
    path = Path(spec["file"])
    if not path.is_file():
        raise ParameterError(f"{path} is not on this machine: instances must lie where every worker can read them")
    with open(path, "rb") as stream:
        found = hashlib.file_digest(stream, "sha256").hexdigest()
    if found != spec["sha256"]:
        raise ParameterError(f"{path} is not the file that the plan was made with: its content differs")
    problem: Problem = dabp.read(path)
    return problem


def _solver(run: Run, trust: Sequence[str]) -> Solver:
    """A registered solver, or a class of the user's own as ``module:Class``."""
    if is_own(run.solver):
        return own_solver(run.solver, run.parameters, trust)
    return make_solver(run.solver, run.parameters)


def _trace_lines(trace: Trace) -> list[str]:
    rows = [("improvement", *row) for row in trace.running_best() or trace.improvements]
    rows += [("bound", *row) for row in trace.bounds]
    lines = [
        json.dumps({"type": kind, "time": round(seconds, 4), "iteration": iteration, "value": value})
        for kind, seconds, iteration, value in rows
    ]
    restarts = [row for row in trace.records if all(name in row for name in RESTART)]
    kept = (*RESTART, "settled")
    return lines + [json.dumps({"type": "restart", **{n: row[n] for n in kept if n in row}}) for row in restarts]


def _finite(value: float | None) -> float | None:
    return value if value is not None and math.isfinite(value) else None
