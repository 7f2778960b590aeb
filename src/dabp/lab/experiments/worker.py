"""What runs runs one after another in other processes, and which kind of it a system has."""

from __future__ import annotations

import os
import sys
from abc import ABC, abstractmethod

from dabp.lab.experiments.plan import Run
from dabp.lab.experiments.preparation import Preparation

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Set to 1 for runs: an experiment is parallel over runs, and times are comparable only on one thread each."""


class WorkerDiedError(Exception):
    """A worker's process is gone: it was killed, or the worker was closed while a run was on."""


class Worker(ABC):
    """Runs one run at a time."""

    def __init__(self, preparation: Preparation | None = None):
        self.preparation = preparation or Preparation()
        self.closed = False

    @abstractmethod
    def run(self, run: Run) -> bytes:
        """The lines of a run's result; raises `WorkerDiedError` if the worker is closed before it has them."""

    @abstractmethod
    def close(self) -> None:
        """End the run that is on, and the worker. May be called from another thread."""


def worker_for(preparation: Preparation) -> Worker:
    """A fork server on Linux. Elsewhere a process per run: macOS's own libraries do not survive a fork."""
    if sys.platform == "linux":
        from dabp.lab.experiments.fork_client import ForkClient

        return ForkClient(preparation)
    from dabp.lab.experiments.fresh_process import FreshProcesses

    return FreshProcesses(preparation)


def environment() -> dict[str, str]:
    """The environment variables of a worker's processes."""
    return {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
