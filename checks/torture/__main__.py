"""``python -m checks.torture``: many cases over several processes; whatever fails is told with its seed."""

from __future__ import annotations

import argparse
import collections
import sys
import time
from multiprocessing.connection import wait
from typing import Any

from checks.records import Clock
from checks.torture.kinds import KINDS
from checks.torture.solving import NAMES
from checks.torture.worker import Worker

SILENCE = 120.0
"""Seconds for one solve after which it counts as hanging, and its process is ended."""


def main() -> int:
    """Draw, solve, judge; 1 if anything is wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--problems", type=int, default=5000)
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument("--seed", type=int, action="append", help="only this one; repeatable")
    parser.add_argument("--solver", action="append", choices=list(NAMES), help="only this one; repeatable")
    clock = Clock(parser, "torture")
    chosen = parser.parse_args()
    seeds = collections.deque(chosen.seed or range(chosen.first, chosen.first + chosen.problems))
    end = time.monotonic() + chosen.seconds
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    failures: list[str] = []
    workers = [Worker(chosen.solver) for _ in range(chosen.jobs)]
    for worker in workers:
        _next(worker, seeds, end)
    done = 0
    while busy := [worker for worker in workers if worker.seed is not None]:
        for pipe in wait([worker.pipe for worker in busy], timeout=1.0):
            worker = next(each for each in workers if each.pipe is pipe)
            try:
                message: Any = worker.pipe.recv()
            except (EOFError, ConnectionError):
                failures.append(f"seed {worker.seed}, {worker.doing}: its process died")
                _say(failures[-1])
                workers[workers.index(worker)] = worker = _anew(worker, chosen.solver)
                _next(worker, seeds, end)
                continue
            worker.since = time.monotonic()
            if message[0] == "begins":
                worker.doing = f"{message[1]} presolve={message[2]}"
                continue
            done += 1
            counts.update((each.solver, each.outcome) for each in message[1])
            for text in message[2]:
                failures.append(text)
                _say(text)
            _next(worker, seeds, end)
        for place, worker in enumerate(workers):
            if worker.seed is not None and time.monotonic() - worker.since > SILENCE:
                failures.append(f"seed {worker.seed}, {worker.doing}: hangs")
                _say(failures[-1])
                workers[place] = _anew(worker, chosen.solver)
                _next(workers[place], seeds, end)
    for worker in workers:
        worker.pipe.send(None)
        worker.process.join(10)
    _tell(done, counts, failures)
    clock.ended(chosen, f"{done:,} problems, {counts.total():,} solves", len(failures))
    return 1 if failures else 0


def _next(worker: Worker, seeds: collections.deque[int], end: float) -> None:
    if seeds and time.monotonic() < end:
        worker.give(seeds.popleft())
    else:
        worker.seed = None


def _anew(worker: Worker, solvers: list[str] | None) -> Worker:
    worker.end()
    return Worker(solvers)


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def _tell(done: int, counts: collections.Counter[tuple[str, str]], failures: list[str]) -> None:
    _say(f"{done} problems of {len(KINDS)} kinds, {sum(counts.values())} solves, {len(failures)} failures")
    for (solver, outcome), count in sorted(counts.items()):
        _say(f"  {solver:16s} {outcome:10s} {count}")


if __name__ == "__main__":
    sys.exit(main())
