"""``python -m checks.embedding --solves 500``: by every solver in turn, in one process, leaving nothing behind."""

from __future__ import annotations

import argparse
import gc
import itertools
import sys
import time

import psutil

import dabp
from checks.records import Clock
from dabp.solvers import SOLVERS

LOADED = 5
"""Rounds over all solvers after which what they load for good is loaded."""
GROWTH = 25_000_000
"""Bytes by which the process may grow afterwards: what allocators keep, not a leak."""


def main() -> int:
    """Solve, compare what the process holds with what it held after the first rounds; 1 if it is more."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--solves", type=int, default=500)
    clock = Clock(parser, "embedding")
    chosen = parser.parse_args()
    process, begun = psutil.Process(), time.monotonic()
    problem = dabp.generate("random-cop", variables=10, domain=3, density=0.5, seed=4)
    before: tuple[int, ...] = ()
    for number, name in enumerate(itertools.islice(itertools.cycle(SOLVERS), LOADED * len(SOLVERS) + chosen.solves)):
        if number == LOADED * len(SOLVERS):
            before = holding(process)
        dabp.solve(problem, name, max_iterations=20, time_limit=1.0, seed=number, presolve=False, threads=2)
    after = holding(process)
    growth = after[0] - before[0]
    told = (
        f"{chosen.solves} solves by {len(SOLVERS)} solvers in {time.monotonic() - begun:.0f} s: {growth / 1e6:+.1f} MB"
    )
    for place, what in enumerate(("threads", "descriptors", "children"), 1):
        told += f", {what} {before[place]} -> {after[place]}"
    sys.stdout.write(f"{told}\n")
    failed = growth > GROWTH or any(now > then for now, then in zip(after[1:], before[1:], strict=True))
    clock.ended(chosen, f"{chosen.solves} solves by {len(SOLVERS)} solvers, {growth / 1e6:+.0f} MB", int(failed))
    return int(failed)


def holding(process: psutil.Process) -> tuple[int, ...]:
    """Memory, threads, descriptors and children."""
    gc.collect()
    counts = process.num_threads(), process.num_fds(), len(process.children(recursive=True))
    return (int(process.memory_info().rss), *counts)


if __name__ == "__main__":
    sys.exit(main())
