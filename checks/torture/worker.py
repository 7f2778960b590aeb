"""A process that judges cases, and tells what it is about to do: what hangs or dies is known by name."""

from __future__ import annotations

import multiprocessing
import time
from multiprocessing.connection import Connection

from checks.torture.kinds import case
from checks.torture.solving import judge


def work(pipe: Connection, solvers: list[str] | None) -> None:
    """In a process: judge the seeds that come, tell each solve before it begins."""
    while (seed := pipe.recv()) is not None:
        made = case(seed)
        counts, failures = judge(made, solvers, lambda name, presolve: pipe.send(("begins", name, presolve)))
        pipe.send(("done", counts, [str(each) for each in failures]))


class Worker:
    """A process and what it is doing."""

    def __init__(self, solvers: list[str] | None):
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=work, args=(theirs, solvers), daemon=False)
        self.process.start()
        theirs.close()
        self.seed: int | None = None
        self.doing, self.since = "making the problem", time.monotonic()

    def give(self, seed: int) -> None:
        """The next seed."""
        self.seed, self.doing, self.since = seed, "making the problem", time.monotonic()
        self.pipe.send(seed)

    def end(self) -> None:
        """Kill what hangs."""
        self.process.kill()
        self.process.join()
