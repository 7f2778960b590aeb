"""One run, from its instance to the rows of its result file. Called in the run's own process."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dabp
from dabp.driver.trace import Trace
from dabp.errors import DabpError, ParameterError
from dabp.lab.experiments.checking import is_own, own_solver
from dabp.lab.experiments.experiment_plan import Run, digest_of
from dabp.lab.experiments.prefixes import Glances, Rows, answered, carried
from dabp.lab.experiments.result_schema import FORMAT
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.status import Status


def execute(run: Run, trust: Sequence[str] = ()) -> list[Rows]:
    """Solve, and return the results of the run and of shorter ones; of a failure the summary alone.

    `trust` are the modules that solvers of the user's own may come from.
    """
    started = time.perf_counter()
    try:
        problem = instance_of(run)
        made = time.perf_counter()
        glances = Glances(run, started)
        result = dabp.solve(
            problem,
            own_solver(run.solver, run.parameters, trust)
            if is_own(run.solver)
            else make_solver(run.solver, run.parameters),
            time_limit=math.inf if run.limits.time is None else run.limits.time,
            max_iterations=run.limits.iterations,
            seed=run.seed,
            callbacks=[glances] if run.shorter else [],
        )
        traced = _trace_rows(result.trace)
    except Exception as error:  # a run's bug is that run's result
        return [[_failed(run, error)]]
    if result.status is Status.INTERRUPTED:
        return [[failure(run, "crash", "stopped by a signal")]]
    summary = {
        **identity(run),
        **answered(result, result.status, result.runtime),
        "variables": problem.num_variables,
        "constraints": problem.facts.num_constraints,
        "maximize": problem.maximize,
        "generation_time": round(made - started, 4),
    }
    shorter = [
        carried({**summary, **identity(each), **outcome}, traced, each.parameters["restarts"])
        for each, outcome in glances.found
    ]
    return [[summary, *traced], *shorter]


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
    # PyTorch and toulbar2 have these words for it
    if isinstance(error, MemoryError) or "allocate memory" in text or "bad_alloc" in text:
        return failure(run, "memory", f"could not allocate: {text}" if text else "out of memory")
    return failure(run, "error", text if isinstance(error, DabpError) else f"{type(error).__name__}: {text}")


def instance_of(run: Run) -> Problem:
    """The problem of a run, made or read again."""
    spec = run.instance
    if "family" in spec:
        return dabp.generate(spec["family"], **spec["parameters"], seed=spec["seed"])
    path = Path(spec["file"])
    if not path.is_file():
        raise ParameterError(f"{path} is not on this machine: instances must lie where every worker can read them")
    if digest_of(path) != spec["sha256"]:
        raise ParameterError(f"{path} is not the file that the plan was made with: its content differs")
    problem: Problem = dabp.read(path)
    return problem


def _trace_rows(trace: Trace) -> Rows:
    events = [("improvement", *row) for row in trace.running_best() or trace.improvements]
    events += [("bound", *row) for row in trace.bounds]
    rows = [
        {"type": kind, "time": round(seconds, 4), "iteration": iteration, "value": value}
        for kind, seconds, iteration, value in events
    ]
    kept = ("restart", "iterations", "converged", "settled")
    restarts = [record for record in trace.records if record.keys() >= set(kept[:3])]
    return rows + [{"type": "restart", **{name: row[name] for name in kept if name in row}} for row in restarts]
