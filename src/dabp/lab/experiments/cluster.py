"""Runs on a Dask cluster: each is a task that runs in a child process of its worker.

Tasks are idempotent (a run's lines depend on the run only) and results are written by the experiment, not by
workers, so that a task which Dask runs twice changes nothing. Workers need not share a file system with the experiment,
unless the plan names files.
"""

from __future__ import annotations

import json
import threading
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

import dabp
from dabp.errors import DabpError
from dabp.lab.experiments.execution import failure
from dabp.lab.experiments.plan import Run
from dabp.lab.experiments.preparation import Preparation, preparation_for
from dabp.lab.experiments.worker import Worker, WorkerDiedError, worker_for
from dabp.packages import require

RETRIES = 5
"""How often Dask may give a run to a worker again that could not start it. (A run whose workers are lost is given to
others as often as the scheduler's ``allowed-failures`` says; then it is recorded as lost.)"""

_workers: dict[tuple[str, int], Worker] = {}
"""In a Dask worker: our worker of each experiment and thread, kept over tasks."""
_lock = threading.Lock()


class ClusterPool:
    """A client of a Dask scheduler."""

    def __init__(self, address: str, trust: Sequence[str] = ()):
        self._trust = trust
        require("distributed", "a cluster")
        from distributed import Client

        try:
            self._client: Any = Client(address, timeout="10s", set_as_default=False)
        except OSError:
            raise DabpError(f"no Dask scheduler answers at {address}: start one with 'dask scheduler'") from None
        self._futures: dict[Any, Run] = {}
        self._experiment = uuid.uuid4().hex
        versions = set(self._client.run(_version).values())
        if versions and versions != {dabp.__version__}:
            self._client.close()
            raise DabpError(f"workers have dabp {', '.join(sorted(versions))}, this is {dabp.__version__}")

    def map(self, runs: Sequence[Run]) -> Iterator[tuple[Run, bytes]]:
        """Each run's lines as it ends."""
        from distributed import KilledWorker, as_completed

        preparation = preparation_for(runs, self._trust)
        for run in runs:
            future = self._client.submit(
                run_on_worker,
                run.to_dict(),
                preparation,
                self._experiment,
                key=f"dabp-{self._experiment}-{run.key}",  # another's of the same run must not share its fate
                retries=RETRIES,
                pure=True,
            )
            self._futures[future] = run
        for future in as_completed(list(self._futures), loop=self._client.loop):
            run = self._futures.pop(future)
            try:
                lines = future.result()
            except KilledWorker as error:
                lines = json.dumps(failure(run, "lost", f"its workers were lost again and again: {error}")).encode()
            yield run, lines

    def close(self) -> None:
        """Cancel what waits, end what runs (Dask's own cancel leaves running tasks alone) and the workers."""
        if self._futures:
            self._client.cancel(list(self._futures))
        self._client.run(end_runs, self._experiment)
        self._client.close()


def run_on_worker(run: dict[str, Any], preparation: Preparation, experiment: str) -> bytes:
    """The task: a thread of a Dask worker keeps one worker of ours over an experiment's tasks."""
    place = (experiment, threading.get_ident())
    with _lock:
        worker = _workers.setdefault(place, worker_for(preparation))
    try:
        return worker.run(Run.from_dict(run))
    except WorkerDiedError:
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
