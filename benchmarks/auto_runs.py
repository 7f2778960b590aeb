"""Runs of solvers on problems, each kept as a line of JSON with the command that made it."""

from __future__ import annotations

import json
import multiprocessing
import sys
import time
from collections.abc import Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import dabp
from dabp.problem import Problem

PEERS_AT_ONCE = 2

WARM_UP = 2.0
"""Seconds in which each member has had a turn, so that its kernels are loaded."""


@dataclass(frozen=True)
class Run:
    """One solver on one problem."""

    key: str
    problem: Problem
    solver: str
    seconds: float
    params: dict[str, Any] = field(default_factory=dict)
    threads: int = 1
    seed: int = 0
    warm: bool = True
    """Whether a solve of up to `WARM_UP` seconds comes first, so that nothing is compiled or loaded on the record."""

    def __call__(self) -> dict[str, Any]:
        """Warm up off the record, solve, and say what came of it."""
        if self.warm and "toulbar2" not in self.solver:
            first = min(self.seconds, WARM_UP)
            dabp.solve(self.problem, self.solver, params=self.params, time_limit=first, threads=self.threads)
        started = time.perf_counter()
        result = dabp.solve(
            self.problem,
            self.solver,
            params=self.params,
            time_limit=self.seconds,
            threads=self.threads,
            seed=self.seed,
        )
        return {
            "key": self.key,
            "command": " ".join(["python -m benchmarks.auto", *sys.argv[1:]]),
            "cost": result.cost,
            "bound": result.bound,
            "status": result.status.name,
            "runtime": round(result.runtime, 3),
            "wall": round(time.perf_counter() - started, 3),
            "last": round(result.trace.improvements[-1][0], 3) if result.trace.improvements else None,
            "notes": list(result.notes),
        }


class Runs:
    """Rows of runs by key, kept in a file of JSON lines if there is one."""

    def __init__(self, path: Path | None):
        self._path = path
        self.rows: dict[str, dict[str, Any]] = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self.rows[row["key"]] = row

    def alone(self, run: Run) -> dict[str, Any]:
        """Do this run, unless it was done before."""
        if run.key not in self.rows:
            self._keep(run())
        return self.rows[run.key]

    def together(self, runs: Sequence[Run]) -> list[dict[str, Any]]:
        """Do those not done before, two at a time, the longest first."""
        missing = sorted((run for run in runs if run.key not in self.rows), key=lambda run: -run.seconds)
        if missing:
            context = multiprocessing.get_context("spawn")
            with ProcessPoolExecutor(PEERS_AT_ONCE, mp_context=context, max_tasks_per_child=1) as pool:
                for future in as_completed([pool.submit(run) for run in missing]):
                    self._keep(future.result())
        return [self.rows[run.key] for run in runs]

    def _keep(self, row: dict[str, Any]) -> None:
        """Write it down; one that a signal cut short says nothing and ends the benchmark."""
        if row["status"] == "INTERRUPTED":
            raise KeyboardInterrupt
        self.rows[row["key"]] = row
        print(f"{row['key']}: {row['cost']} after {row['last']} s", file=sys.stderr, flush=True)
        if self._path:
            with self._path.open("a") as stream:
                stream.write(json.dumps(row) + "\n")


def cost_of(row: dict[str, Any]) -> float:
    """The cost found, infinite for none."""
    return np.inf if row["cost"] is None else float(row["cost"])


def table(heads: Iterable[str]) -> None:
    """Print the head of a table."""
    print("| " + " | ".join(heads) + " |\n|" + " --- |" * len(list(heads)))
