"""Running a plan: what is missing is run, here or on a cluster, and each result is kept as it comes."""

from __future__ import annotations

import datetime as dt
import json
import os
import platform
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any, Protocol

import psutil

import dabp
from dabp.errors import ParameterError
from dabp.lab.experiments.checking import check
from dabp.lab.experiments.plan import Plan, Run
from dabp.lab.experiments.prefixes import joined, split
from dabp.lab.experiments.store import ResultsFolder

PACKAGES = ("numpy", "numba", "torch", "pytoulbar2")
"""Whose versions a report names."""


@dataclass
class Progress:
    """Where an experiment stands; given to the callback after every run."""

    total: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    failed_before: int = 0
    """How many of those skipped are recorded failures."""
    last_failure: str = ""


class Pool(Protocol):
    """Something that runs runs, in any order."""

    def map(self, runs: Sequence[Run]) -> Iterator[tuple[Run, bytes]]:
        """Give each run's lines as it ends."""

    def close(self) -> None:
        """End whatever still runs."""


def run_plan(
    plan: Plan,
    folder: str | Path,
    *,
    jobs: int = 1,
    scheduler: str | None = None,
    retry_failed: bool = False,
    trust: Sequence[str] = (),
    command: Sequence[str] = (),
    progress: Callable[[Progress], None] | None = None,
) -> Progress:
    """Run what is missing of a plan into a folder.

    Parameters
    ----------
    plan, folder
        What to run, and where results are kept.
    jobs
        How many runs at a time on this machine.
    scheduler
        Address of a Dask scheduler, ``tcp://host:8786``; `jobs` is then left to its workers.
    retry_failed
        Run failed runs again; otherwise a recorded failure stands.
    trust
        Modules that solvers written as ``module:Class`` may come from: a plan can name any program.
    command
        How this was called, for the report.
    progress
        Called at the start and after every run.
    """
    if jobs < 1:
        raise ParameterError(f"jobs is at least 1, not {jobs}")
    check(plan, trust)
    store = ResultsFolder(folder)
    with store.held():
        finished = store.finished(retry_failed)
        unique = {run.key: run for run in plan.runs}
        missing = [run for key, run in unique.items() if key not in finished]
        state = Progress(total=len(unique), skipped=len(unique) - len(missing))
        state.failed_before = sum(store.failed(key) for key in unique.keys() & finished)
        store.save_plan(plan, {**environment(command), "jobs": jobs, "scheduler": scheduler}, new=bool(missing))
        if progress is not None:
            progress(state)
        if not missing:
            return state
        for _ in range(2):  # a shorter run whose longer one failed before it got there is run by itself
            _run(missing, store, lambda runs: _pool(runs, jobs, scheduler, trust), state, progress)
            finished = store.finished()
            missing = [run for run in missing if run.key not in finished]
            if not missing:
                break
    return state


def _run(
    missing: Sequence[Run],
    store: ResultsFolder,
    make_pool: Callable[[Sequence[Run]], Pool],
    state: Progress,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Run what is missing, and keep each result as it comes, with those that it carries."""
    runs, named = joined(missing), {run.key: run for run in missing}
    pool = make_pool(runs)
    try:
        for _, lines in pool.map(runs):
            for key, own in split(lines):
                store.save(key, own)
                _count(state, named[key], own)
            if progress is not None:
                progress(state)
    finally:
        pool.close()


def _pool(runs: Sequence[Run], jobs: int, scheduler: str | None, trust: Sequence[str]) -> Pool:
    if scheduler is None:
        from dabp.lab.experiments.local import LocalPool

        return LocalPool(jobs, runs, trust)
    from dabp.lab.experiments.cluster import ClusterPool

    return ClusterPool(scheduler, trust)


def _count(state: Progress, run: Run, lines: bytes) -> None:
    summary: Mapping[str, Any] = json.loads(lines.partition(b"\n")[0])
    state.done += 1
    if summary["state"] == "failed":
        state.failed += 1
        state.last_failure = f"{run.label} on {run.group}: {summary['reason']}, {summary['detail']}"


def environment(command: Sequence[str] = ()) -> dict[str, Any]:
    """Versions, machine and command, for the report."""
    versions = {"dabp": dabp.__version__, "python": platform.python_version()}
    for package in PACKAGES:
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "started": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "command": list(command),
        "versions": versions,
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "processor": _processor(),
            "cores": os.cpu_count(),
            "memory": psutil.virtual_memory().total,
        },
    }


def _processor() -> str:
    if sys.platform == "linux":
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor()
