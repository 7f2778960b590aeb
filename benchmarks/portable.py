"""What portable machine code costs: ``python -m benchmarks.portable [--rounds N]``.

The same kernels compiled for portable levels of the processor, as the package brings them, and for this very processor,
side by side: iterations per second of CPU of each solver with 100 and 10,000 variables, the levels in turn, medians
over the rounds. Printed is the time of an iteration as a ratio to the native one; at most 1.05 is wanted.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

from dabp.kernels import cache
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers import make_solver
from dabp.solvers.base import Budget

SECONDS = 0.4
"""Of CPU for each measurement."""

TASKS: dict[str, tuple[str, dict[str, Any]]] = {
    "bp": ("bp", {"damping": 0.5, "tolerance": 0.0}),
    "dbp-scfg": ("dbp-scfg", {"tolerance": 0.0}),
    "bp-reinforced": ("bp-reinforced", {}),
    "soft bp": ("bp", {"temperature": 1.0, "damping": 0.5, "tolerance": 0.0}),
    "annealing": ("annealing", {}),
    "tabu": ("tabu", {}),
    "dual": ("dual", {}),
    "dabp": ("dabp", {}),
}
"""What is measured: a solver and its parameters."""


def problem(variables: int) -> Problem:
    """A dense random COP of the paper with 100 variables, a sparse one of degree 6 with 10,000."""
    if variables == 100:
        return generate("random-cop", variables=100, density=0.25, seed=1)
    rng = np.random.default_rng(1)
    ends = np.arange(variables)
    scopes = [(int(i), int(j)) for step in (1, 7, 61) for i, j in zip(ends, (ends + step) % variables, strict=True)]
    return Problem.from_tables([10] * variables, [(scope, rng.integers(0, 101, (10, 10)) * 1.0) for scope in scopes])


def measure(variables: int) -> dict[str, float]:
    """CPU seconds of an iteration of each task."""
    found = {}
    given = problem(variables)
    for name, (solver, params) in TASKS.items():
        search = make_solver(solver, params).start(given, seed=1, budget=Budget(time_limit=60.0))
        search.step()
        started, done = time.process_time(), 0
        while (spent := time.process_time() - started) < SECONDS or done == 0:
            step = search.step()
            done += len(step.costs)
            if step.finished is not None:
                spent = time.process_time() - started
                break
        search.close()
        found[name] = spent / max(done, 1)
    return found


def main() -> None:
    """Measure all levels in turn, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure)))
        return
    levels = [level for level in cache.host_levels() if (cache.SHIPPED / level).is_dir()]
    with tempfile.TemporaryDirectory() as place:
        modes = {"native": {cache.BUILD_FOLDER: place}}
        for level in levels:
            folder = str(Path(cache.SHIPPED) / level)
            modes[level] = {cache.BUILD_FOLDER: folder, "NUMBA_CPU_NAME": level, "NUMBA_CPU_FEATURES": ""}
        print(f"{'iteration':14s} {'variables':>9s} {'native':>12s}" + "".join(f"{level:>12s}" for level in levels))
        for variables in (100, 10_000):
            rounds: dict[str, list[dict[str, float]]] = {mode: [] for mode in modes}
            for turn in range(options.rounds + 1):
                for mode, variables_of in modes.items():
                    command = [sys.executable, "-m", "benchmarks.portable", "--measure", str(variables)]
                    done = subprocess.run(
                        command, env={**os.environ, **variables_of}, stdout=subprocess.PIPE, text=True, check=True
                    )
                    if turn:  # the first compiles
                        rounds[mode].append(json.loads(done.stdout))
            for task in TASKS:
                medians = {mode: statistics.median(one[task] for one in rounds[mode]) for mode in modes}
                ratios = "".join(f"{medians[level] / medians['native']:12.2f}" for level in levels)
                print(f"{task:14s} {variables:9d} {1e6 * medians['native']:9.1f} µs{ratios}", flush=True)


if __name__ == "__main__":
    main()
