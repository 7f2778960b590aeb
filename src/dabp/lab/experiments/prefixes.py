"""Runs that are the beginning of longer ones: of 5, 10 and 20 restarts only the 20 are run.

The first restarts of a run do not depend on how many will follow, for solvers that say so (`Solver.prefixes`). The
longest run of an instance therefore looks at itself where each shorter one would have ended, and gives their results,
too.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dabp.driver.result import Result
from dabp.driver.stopping import Progress
from dabp.lab.experiments.checking import is_own
from dabp.lab.experiments.experiment_plan import Run
from dabp.lab.experiments.usage import usage
from dabp.solvers.registry import SOLVERS
from dabp.solvers.status import Status

Rows = list[dict[str, Any]]
"""The result of a run: its summary, then the rows of its trace."""


def joined(runs: Iterable[Run]) -> list[Run]:
    """The runs to be run: each knows which numbers of restarts it also stands for (`Run.shorter`)."""
    groups: dict[str, list[Run]] = {}
    for run in runs:
        groups.setdefault(_rest(run) if _is_prefix(run) else run.key, []).append(run)
    longest = []
    for group in groups.values():
        *shorter, last = sorted(group, key=lambda run: run.parameters.get("restarts", 0))
        longest.append(replace(last, shorter=tuple(run.parameters["restarts"] for run in shorter)))
    return longest


def _is_prefix(run: Run) -> bool:
    """Whether a run is the beginning of one with more restarts; a run of one restart has another status."""
    if is_own(run.solver) or run.solver not in SOLVERS or not SOLVERS[run.solver].load().prefixes:
        return False
    restarts = run.parameters.get("restarts")
    return isinstance(restarts, int) and restarts > 1


def _rest(run: Run) -> str:
    """The key of a run without its number of restarts."""
    return replace(run, parameters={**run.parameters, "restarts": None}).key


class Glances:
    """A callback that records the state of a run where shorter ones would have ended."""

    def __init__(self, run: Run, started: float):
        self._run, self._started = run, started
        self._ended = 0
        self.found: list[tuple[Run, dict[str, Any]]] = []
        """Each shorter run with the outcome of its summary."""

    def __call__(self, progress: Progress) -> None:
        """Record the outcome where as many restarts have ended as a shorter run has."""
        ended = self._ended + sum("converged" in record for record in progress.records)
        if ended > self._ended and ended in self._run.shorter:
            run = replace(self._run, parameters={**self._run.parameters, "restarts": ended}, shorter=())
            self.found.append((run, self._outcome(progress)))
        self._ended = ended

    def _outcome(self, progress: Progress) -> dict[str, Any]:
        wall = round(time.perf_counter() - self._started, 3)
        return {**answered(progress, Status.LIMIT, progress.time), "wall": wall, **usage()}


def answered(found: Progress | Result, status: Status, seconds: float) -> dict[str, Any]:
    """What the summary of a run says of its answer."""
    return {
        "state": "done",
        "cost": found.cost,
        "bound": found.bound if found.bound is not None and np.isfinite(found.bound) else None,
        "status": status.value,
        "iterations": found.iterations,
        "runtime": round(seconds, 4),
        "assignment": None if found.assignment is None else np.asarray(found.assignment).tolist(),
    }


def carried(summary: dict[str, Any], trace: Sequence[dict[str, Any]], restarts: int) -> Rows:
    """The result of a shorter run: its summary and the beginning of the trace."""
    return [summary, *(row for row in trace if _before(row, summary["iterations"], restarts))]


def _before(row: dict[str, Any], iterations: int, restarts: int) -> bool:
    if row["type"] == "restart":
        return bool(row["restart"] < restarts)
    return bool(row["iteration"] <= iterations)
