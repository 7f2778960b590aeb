"""Running a plan: what is missing is run, on this machine or on a cluster, and each result is stored as it arrives."""

from __future__ import annotations

import contextlib
import datetime as dt
import os
import platform
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

import psutil

import dabp
from dabp.errors import ParameterError
from dabp.lab.experiments.checking import check
from dabp.lab.experiments.experiment_plan import Plan, Run
from dabp.lab.experiments.prefixes import Rows, joined
from dabp.lab.experiments.run_workers import Preparation, Worker, preparation_for
from dabp.lab.experiments.store import ResultsFolder


@dataclass
class Progress:
    """How many runs of a plan are done; given to the callback after every run."""

    total: int
    skipped: int = 0
    done: int = 0
    failed: int = 0
    failed_before: int = 0
    """How many of the skipped runs are recorded failures."""
    last_failure: str = ""


def on_this_machine(runs: Sequence[Run], jobs: int, preparation: Preparation) -> Generator[list[Rows], None, None]:
    """Each run's results as it ends, of `jobs` workers; closing the generator ends workers and runs."""
    idle = workers = [Worker(preparation) for _ in range(min(jobs, len(runs)))]
    left = iter(runs)
    waiting: dict[Future[list[Rows]], Worker] = {}
    with ThreadPoolExecutor(len(workers)) as threads:
        try:
            while True:
                waiting |= {threads.submit(worker.run, run): worker for worker, run in zip(idle, left, strict=False)}
                if not waiting:
                    return
                # On Windows a wait without a limit cannot be interrupted.
                done = wait(waiting, 0.2, FIRST_COMPLETED).done
                idle = [waiting.pop(future) for future in done]
                yield from (future.result() for future in done)
        finally:
            for worker in workers:
                worker.close()


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
        Modules that solvers written as ``module:Class`` may come from: a plan can name any program. The modules are
        looked for beside the plan, too.
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
        finished = {key: failed for key, failed in store.finished().items() if not (retry_failed and failed)}
        unique = {run.key: run for run in plan.runs}
        missing = [run for key, run in unique.items() if key not in finished]
        state = Progress(total=len(unique), skipped=len(unique) - len(missing))
        state.failed_before = sum(finished[key] for key in unique.keys() & finished.keys())
        store.save_plan(plan, {**environment(command), "jobs": jobs, "scheduler": scheduler}, new=bool(missing))
        if progress is not None:
            progress(state)
        for _ in range(2):  # a shorter run whose longer one failed before it got there is run by itself
            if not missing:
                break
            results = _results(joined(missing), jobs, scheduler, trust, plan.path)
            _store(results, missing, store, state, progress)
            finished = store.finished()
            missing = [run for run in missing if run.key not in finished]
    return state


def _results(
    runs: Sequence[Run], jobs: int, scheduler: str | None, trust: Sequence[str], path: Sequence[str]
) -> Generator[list[Rows], None, None]:
    preparation = preparation_for(runs, trust, [*path, *filter(None, sys.path)])
    if scheduler is None:
        return on_this_machine(runs, jobs, preparation)
    from dabp.lab.experiments.cluster import on_cluster

    return on_cluster(runs, scheduler, preparation)


def _store(
    results: Generator[list[Rows], None, None],
    missing: Sequence[Run],
    store: ResultsFolder,
    state: Progress,
    progress: Callable[[Progress], None] | None,
) -> None:
    """Store each run's result with those of the shorter runs that it contains."""
    named = {run.key: run for run in missing}
    with contextlib.closing(results):
        for each in results:
            for rows in each:
                store.save(rows)
                _count(state, named[rows[0]["key"]], rows[0])
            if progress is not None:
                progress(state)


def _count(state: Progress, run: Run, summary: Mapping[str, Any]) -> None:
    state.done += 1
    if summary["state"] == "failed":
        state.failed += 1
        state.last_failure = f"{run.label} on {run.group}: {summary['reason']}, {summary['detail']}"


def environment(command: Sequence[str] = ()) -> dict[str, Any]:
    """Versions, machine and command, for the report."""
    versions = {"dabp": dabp.__version__, "python": platform.python_version()}
    for package in ("numpy", "numba", "torch", "pytoulbar2"):
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
