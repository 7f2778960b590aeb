"""Runs on this machine: a thread per job, each with a worker of its own."""

from __future__ import annotations

import contextlib
import queue
import threading
from collections.abc import Iterator, Sequence

from dabp.lab.experiments.plan import Run
from dabp.lab.experiments.preparation import preparation_for
from dabp.lab.experiments.worker import Worker, WorkerDiedError, worker_for

ANSWER_SECONDS = 0.2
"""Seconds in which Ctrl-C is answered on Windows."""


class LocalPool:
    """`jobs` workers that take runs from one queue."""

    def __init__(self, jobs: int, runs: Sequence[Run], trust: Sequence[str] = ()):
        preparation = preparation_for(runs, trust)
        self._workers = [worker_for(preparation) for _ in range(min(jobs, len(runs)))]
        self._waiting: queue.SimpleQueue[Run | None] = queue.SimpleQueue()
        self._ended: queue.SimpleQueue[tuple[Run, bytes] | BaseException] = queue.SimpleQueue()

    def map(self, runs: Sequence[Run]) -> Iterator[tuple[Run, bytes]]:
        """Each run's lines as it ends."""
        for run in runs:
            self._waiting.put(run)
        for worker in self._workers:
            self._waiting.put(None)
            threading.Thread(target=self._work, args=(worker,), daemon=True).start()
        for _ in runs:
            ended = self._next()
            if isinstance(ended, BaseException):
                raise ended
            yield ended

    def _next(self) -> tuple[Run, bytes] | BaseException:
        """What has ended next; a wait without a limit would keep Ctrl-C from being answered on Windows."""
        while True:
            with contextlib.suppress(queue.Empty):
                return self._ended.get(timeout=ANSWER_SECONDS)

    def _work(self, worker: Worker) -> None:
        while (run := self._waiting.get()) is not None:
            try:
                self._ended.put((run, worker.run(run)))
            except WorkerDiedError:  # the pool was closed
                return
            except BaseException as error:  # e.g. no more processes: the experiment must end, not wait
                self._ended.put(error)
                return

    def close(self) -> None:
        """End the workers and what they run."""
        for worker in self._workers:
            worker.close()
