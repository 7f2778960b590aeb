"""Local search against toulbar2's INCOP on the paper's four families.

``python -m benchmarks.baselines`` solves 8 generated instances (four families, 60 and 100 variables) with `annealing`
and `tabu` for 20 s each, one thread, and with toulbar2's INCOP: its default command, and one long enough for 60 s. It
prints normalised costs (divided by the number of constraints), the seconds to the last improvement and the CPU seconds
each really had; ``--json FILE`` keeps every run as a line and continues where it was interrupted. With ``--race`` INCOP
goes first, and `annealing` and `tabu` stop as soon as they are at or below the better of its two answers: cheap, and
the seconds to get there are what is compared.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil

import dabp
from dabp.driver.stopping import Progress
from dabp.problem import Problem

FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")
SIZES = (60, 100)

CONTESTANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "annealing": ("annealing", {}),
    "tabu": ("tabu", {}),
    "incop": ("toulbar2-incop", {}),
    "incop-long": ("toulbar2-incop", {"steps": 1_500_000}),
}
"""Name → solver and parameters."""


def instance(family: str, variables: int, seed: int) -> Problem:
    """An instance with the paper's parameters, which are the generators' defaults."""
    return dabp.generate(family, variables=variables, seed=seed)


class CpuSeconds:
    """CPU time of this process and its children so far, read as a callback while they live."""

    def __init__(self) -> None:
        self._children, self._start, self._read = 0.0, time.process_time(), 0.0

    def __call__(self, progress: Progress) -> bool:
        """Read the children's clocks twice a second."""
        if time.perf_counter() - self._read > 0.5:
            self._read = time.perf_counter()
            times = [child.cpu_times() for child in psutil.Process().children(recursive=True)]
            self._children = max(self._children, sum(one.user + one.system for one in times))
        return False

    @property
    def total(self) -> float:
        """Seconds so far."""
        return time.process_time() - self._start + self._children


class LocalSearchOver:
    """Ends a solve when toulbar2's complete search begins: a bound that rises after there is an incumbent."""

    def __init__(self) -> None:
        self._bound: float | None = None

    def __call__(self, progress: Progress) -> bool:
        """Compare the bound with that of the first incumbent."""
        if progress.cost is None:
            self._bound = progress.bound
        return progress.cost is not None and progress.bound != self._bound


def run(name: str, problem: Problem, seconds: float, seed: int, target: float | None = None) -> dict[str, Any]:
    """One contestant on one problem, until a normalised cost is reached if one is given."""
    solver, params = CONTESTANTS[name]
    clock = CpuSeconds()
    callbacks: list[Callable[[Progress], bool]] = [clock]
    limit = seconds
    if solver == "toulbar2-incop":
        callbacks.append(LocalSearchOver())
        limit = 600.0
    goal = None if target is None else (target + 1e-9) * problem.facts.num_constraints
    result = dabp.solve(problem, solver, params=params, time_limit=limit, target=goal, seed=seed, callbacks=callbacks)
    last = result.trace.improvements[-1][0] if result.trace.improvements else None
    cost = None if result.cost is None else result.cost / problem.facts.num_constraints
    return {"cost": cost, "last_improvement": last, "runtime": result.runtime, "cpu": clock.total}


def main() -> None:
    """Run what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=20.0, help="seconds for annealing and tabu")
    parser.add_argument("--seed", type=int, default=1, help="of instances and searches")
    parser.add_argument("--only", default=",".join(CONTESTANTS), help="contestants, separated by commas")
    parser.add_argument("--json", type=Path, help="keep runs here and continue from it")
    parser.add_argument("--race", action="store_true", help="stop at INCOP's cost")
    options = parser.parse_args()
    chosen = sorted(options.only.split(","), key=lambda name: not name.startswith("incop"))
    done: dict[tuple[str, int, str], dict[str, Any]] = {}
    if options.json and options.json.exists():
        for line in options.json.read_text().splitlines():
            row = json.loads(line)
            done[row["family"], row["variables"], row["contestant"]] = row
    for variables in SIZES:
        for family in FAMILIES:
            problem = instance(family, variables, options.seed)
            for name in chosen:
                key = (family, variables, name)
                if key in done:
                    continue
                keys = {"family": family, "variables": variables, "contestant": name, "seed": options.seed}
                target = None
                if options.race and not name.startswith("incop"):
                    target = min(done[family, variables, peer]["cost"] for peer in ("incop", "incop-long"))
                done[key] = {**keys, **run(name, problem, options.time, options.seed, target)}
                if options.json:
                    with options.json.open("a") as stream:
                        stream.write(json.dumps(done[key]) + "\n")
    print("| instance | " + " | ".join(chosen) + " |")
    print("| --- |" + " --- |" * len(chosen))
    for variables in SIZES:
        for family in FAMILIES:
            cells = [done[family, variables, name] for name in chosen]
            text = [f"{c['cost']:.4f} ({c['last_improvement']:.1f} s, {c['cpu']:.0f} s CPU)" for c in cells]
            print(f"| {family} {variables} | " + " | ".join(text) + " |")


if __name__ == "__main__":
    main()
