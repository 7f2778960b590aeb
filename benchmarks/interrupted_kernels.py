"""Jupyter kernels that are interrupted while they solve: ``python -m benchmarks.interrupted_kernels [--count N]``."""

from __future__ import annotations

import argparse
import collections
import random
import sys
import time

from tests.driver.notebook import ANSWER, RUNNING, notebook

SOLVERS = ("auto", "dabp", "toulbar2", "tabu", "bp")


def interrupted_kernels(options: argparse.Namespace) -> int:
    """Interrupt kernels at random moments of a solve; how many died or left a single interrupt without an answer."""
    counts: collections.Counter[str] = collections.Counter()
    draw = random.Random(options.seed)
    for number in range(options.count):
        solver, twice, pause = SOLVERS[number % len(SOLVERS)], number % 2 == 1, draw.uniform(0.0, 1.5)
        with notebook() as kernel:
            cell = kernel.begin(RUNNING.format(solver=solver, options=""), until="running")
            time.sleep(pause)
            kernel.interrupt()
            if twice:
                time.sleep(draw.uniform(0.0, 0.02))  # one that comes at once is the same signal
                kernel.interrupt()
            outcome = kernel.end(cell)
            alive = kernel.run("print(6 * 7)").text == "42\n"
            answered = outcome.status == "ok" and kernel.run(ANSWER).text.endswith("True\n")
        kind = "interrupted twice" if twice else "interrupted once"
        ending = "died" if not alive else "answered" if answered else outcome.error or outcome.status
        counts[f"{kind}: {ending}"] += 1
        print(f"{number + 1:3d}  {solver:10s} {kind:18s} after {pause:4.1f} s: {ending}", flush=True)
    for line, count in sorted(counts.items()):
        print(f"{count:3d}  {line}")
    allowed = ("interrupted once: answered", "interrupted twice: answered", "interrupted twice: KeyboardInterrupt")
    return sum(count for line, count in counts.items() if line not in allowed)


def main() -> None:
    """Interrupt; the exit code says whether each answered."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=20, help="notebooks to interrupt")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of interruption")
    sys.exit(interrupted_kernels(parser.parse_args()) > 0)


if __name__ == "__main__":
    main()
