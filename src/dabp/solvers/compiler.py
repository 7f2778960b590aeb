"""Processes that compile kernels: one beside a solve that waits for them, or one for each core to make all.

What is to be compiled are the jobs of `dabp.solvers.warming`.
"""

from __future__ import annotations

import contextlib
import gc
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from dabp.solvers.warming import CHAINS, JOBS, make, missing

COMMAND = [
    sys.executable,
    *["-" + "O" * sys.flags.optimize] * (sys.flags.optimize > 0),
    "-c",
    f"import sys; from {__name__} import main; main(sys.argv[1:])",
]
"""Runs `main` with the names of jobs in a process of its own, of the same kind: ``-O`` changes what is compiled."""

_ENVIRONMENT = {"NUMBA_DISABLE_ERROR_MESSAGE_HIGHLIGHTING": "1"}
"""Of processes that compile: Numba colours what it says about every signature that it tries and drops."""

PARENT_SECONDS = 0.5
"""How often a compiling process looks whether its parent is still there."""

OBJECTS = 50_000
"""How many new objects Python looks for garbage after; its own number costs a tenth of the time of compiling."""


class Compiler:
    """A child process that does jobs one after the other; it ends with this process, and keeps what it has made."""

    def __init__(self, jobs: Iterable[str]):
        from dabp.kernels.cache import folder

        self._waiting = list(jobs)
        self._asked = 0.0
        self._process: subprocess.Popen[bytes] | None = None
        if self._waiting:
            self._process = subprocess.Popen(
                [*COMMAND, *self._waiting],
                env={**os.environ, **_ENVIRONMENT, "DABP_CACHE_DIR": str(folder()), "DABP_PARENT": str(os.getpid())},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C is for the parent, which ends it
            )

    def waiting(self) -> list[str]:
        """The jobs that are not done yet, looked at ten times a second at most."""
        now = time.monotonic()
        if self._waiting and now - self._asked > 0.1:
            self._asked = now
            self._waiting = missing(self._waiting)
        return self._waiting

    @property
    def running(self) -> bool:
        """Whether there is more to come."""
        return self._process is not None and self._process.poll() is None

    def close(self) -> None:
        """End the process; what it has compiled is kept."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()


class _Worker:
    """A process that does jobs as they are handed to it: what one chain has loaded and compiled serves the next."""

    def __init__(self, folder: Path):
        self.process = subprocess.Popen(
            COMMAND,
            env={**os.environ, **_ENVIRONMENT, "DABP_CACHE_DIR": str(folder)},
            stdin=subprocess.PIPE,
            stdout=subprocess.DEVNULL,
            text=True,
        )
        self._jobs: list[str] = []

    @property
    def running(self) -> bool:
        """Whether it has not ended, by itself or by a job that failed."""
        return self.process.poll() is None

    @property
    def idle(self) -> bool:
        """Whether all that it was given is done."""
        self._jobs = missing(self._jobs)
        return not self._jobs

    def give(self, jobs: list[str]) -> None:
        """Hand over a chain of jobs; without any it ends."""
        assert self.process.stdin is not None
        self._jobs = jobs
        with contextlib.suppress(OSError):  # it has just died, and its jobs are missed
            if jobs:
                print(*jobs, file=self.process.stdin, flush=True)
            else:
                self.process.stdin.close()

    def close(self) -> None:
        """End it at once, if it has not ended."""
        self.process.kill()
        with contextlib.suppress(OSError):
            self.process.communicate()


def make_all(progress: Callable[[int, int], None], processes: int | None = None) -> list[str]:
    """Do every job that is missing, in as many processes as there are cores; which could not be done.

    `progress` is told how many of all jobs are done whenever one more is.
    """
    from dabp.kernels.cache import folder, throw_away_unused

    throw_away_unused()
    lacking = missing()
    chains = [chain for jobs in CHAINS if (chain := [job for job in jobs if job in lacking])]
    workers: list[_Worker] = []
    try:
        while chains or workers:
            while chains and len(workers) < (processes or os.cpu_count() or 1):
                workers.append(_Worker(folder()))
                workers[-1].give(chains.pop(0))
            time.sleep(0.05)
            for worker in list(workers):
                if not worker.running:
                    worker.close()
                    workers.remove(worker)
                elif worker.idle:
                    worker.give(chains.pop(0) if chains else [])
            lacking = missing(lacking)
            progress(len(JOBS) - len(lacking), len(JOBS))
    finally:
        for worker in workers:
            worker.close()
    return lacking


def _end_with_parent(parent: int) -> None:
    """Leave as soon as the process that asked for the jobs is gone."""
    while os.getppid() == parent:
        time.sleep(PARENT_SECONDS)
    os._exit(1)


def main(jobs: list[str]) -> None:
    """Do the named jobs, beside a solve only as long as it is there; without names those in every line of the input."""
    gc.set_threshold(OBJECTS)
    if parent := os.environ.get("DABP_PARENT"):
        threading.Thread(target=_end_with_parent, args=(int(parent),), daemon=True).start()
    for job in jobs or (word for line in sys.stdin for word in line.split()):
        make(job)
