"""Runs on a Dask cluster: each is a task that runs in a child process of its worker.

Tasks are idempotent (a run's lines depend on the run only) and results are written by the experiment, not by workers, so
that a task which Dask runs twice changes nothing. Workers need not share a file system with the experiment,
unless the plan names files.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from typing import Any

import dabp
from dabp.errors import DabpError, ParameterError
from dabp.experiments.plan import Run
from dabp.experiments.worker import Worker, WorkerDied, modules_for

RETRIES = 5
"""How often Dask may give a run to another worker after the first was lost."""

_local = threading.local()
_workers: list[Worker] = []
_lock = threading.Lock()


class ClusterPool:
    """A client of a Dask scheduler."""

    def __init__(self, address: str):
        try:
            from distributed import Client
        except ImportError:
            raise ParameterError("a cluster needs Dask: install it with  pip install 'dabp[dist]'") from None
        try:
            self._client: Any = Client(address, timeout="10s", set_as_default=False)
        except OSError:
            raise DabpError(f"no Dask scheduler answers at {address}: start one with 'dask scheduler'") from None
        self._futures: dict[Any, Run] = {}
        versions = set(self._client.run(_version).values())
        if versions and versions != {dabp.__version__}:
            self._client.close()
            raise DabpError(f"workers have dabp {', '.join(sorted(versions))}, this is {dabp.__version__}")

    def map(self, runs: Sequence[Run]) -> Iterator[tuple[Run, bytes]]:
        """Each run's lines as it ends."""
        from distributed import as_completed

        modules = modules_for(runs)
        for run in runs:
            future = self._client.submit(
                run_on_worker, run.to_dict(), modules, key=f"dabp-{run.key}", retries=RETRIES, pure=True
            )
            self._futures[future] = run
        for future in as_completed(list(self._futures)):
            yield self._futures.pop(future), future.result()

    def close(self) -> None:
        """Cancel what waits, end what runs (Dask's own cancel leaves running tasks alone), say goodbye."""
        if self._futures:
            self._client.cancel(list(self._futures), force=True)
            self._client.run(end_runs)
        self._client.close()


def run_on_worker(run: dict[str, Any], modules: Sequence[str]) -> bytes:
    """The task: a thread of a Dask worker keeps one fork server over its tasks."""
    worker: Worker | None = getattr(_local, "worker", None)
    if worker is None or worker.closed:
        worker = _local.worker = Worker(modules)
        with _lock:
            _workers.append(worker)
    try:
        return worker.run(Run.from_dict(run))
    except WorkerDied:
        raise DabpError("the experiment was cancelled") from None


def end_runs() -> None:
    """End every run of this Dask worker."""
    with _lock:
        ending = list(_workers)
        _workers.clear()
    for worker in ending:
        worker.close()


def _version() -> str:
    return dabp.__version__
