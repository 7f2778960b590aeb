"""Runs on a Dask cluster: each is a task, whose run has a child process of the Dask worker.

Tasks are idempotent: a run's lines depend on the run only. Results are written by the experiment and not by the
workers, so that a task which Dask executes twice changes nothing. Workers need to share a file system with the
experiment only if the plan names files.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Generator, Sequence
from typing import Any

import dabp
from dabp.errors import DabpError
from dabp.lab.experiments.execution import failure
from dabp.lab.experiments.experiment_plan import Run
from dabp.lab.experiments.prefixes import Rows
from dabp.lab.experiments.run_workers import Preparation, Worker, WorkerClosedError
from dabp.packages import require

_workers: dict[tuple[str, int], Worker] = {}
"""In a Dask worker: our worker for each experiment and thread, kept over tasks."""
_lock = threading.Lock()


def on_cluster(runs: Sequence[Run], address: str, preparation: Preparation) -> Generator[list[Rows], None, None]:
    """Each run's results as it ends, of a Dask scheduler; closing the generator ends tasks, runs and workers."""
    require("distributed", "a cluster")
    from distributed import Client, KilledWorker, as_completed

    try:
        client: Any = Client(address, timeout="10s", set_as_default=False)
    except OSError:
        raise DabpError(f"no Dask scheduler answers at {address}: start one with 'dask scheduler'") from None
    experiment, waiting = uuid.uuid4().hex, {}
    with client:
        versions = set(client.run(_version).values())
        if versions and versions != {dabp.__version__}:
            raise DabpError(f"workers have dabp {', '.join(sorted(versions))}, this is {dabp.__version__}")
        try:
            for run in runs:
                future = client.submit(
                    run_on_worker,
                    run.to_dict(),
                    preparation,
                    experiment,
                    key=f"dabp-{experiment}-{run.key}",  # other experiments may have the same run
                    retries=5,  # where a worker could not start it; for lost workers there is ``allowed-failures``
                    pure=True,
                )
                waiting[future] = run
            for future in as_completed(list(waiting), loop=client.loop):
                run = waiting.pop(future)
                try:
                    yield future.result()
                except KilledWorker as error:
                    yield [[failure(run, "lost", f"its workers were lost: {error}")]]
        finally:
            client.cancel(list(waiting))
            client.run(end_runs, experiment)  # Dask's own cancel leaves running tasks alone


def run_on_worker(run: dict[str, Any], preparation: Preparation, experiment: str) -> list[Rows]:
    """The task: execute a run in the worker that this thread of a Dask worker keeps for the experiment."""
    place = (experiment, threading.get_ident())
    with _lock:
        worker = _workers.setdefault(place, Worker(preparation))
    try:
        return worker.run(Run.from_dict(run))
    except WorkerClosedError:
        raise DabpError("the experiment was cancelled") from None


def end_runs(experiment: str) -> None:
    """End every run and worker that this Dask worker has for an experiment."""
    with _lock:
        places = [place for place in _workers if place[0] == experiment]
        ending = [_workers.pop(place) for place in places]
    for worker in ending:
        worker.close()


def _version() -> str:
    return dabp.__version__
