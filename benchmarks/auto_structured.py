"""`auto` beside toulbar2's modes and its own members on problems shaped like real ones: who has what, who proves it."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping
from typing import Any

from benchmarks.auto_runs import Run, Runs, table
from benchmarks.forbidding_problems import FORBIDDING
from benchmarks.structured_problems import STRUCTURED
from dabp.problem import Problem

MODES: dict[str, tuple[str, dict[str, Any]]] = {
    "toulbar2": ("toulbar2", {}),
    "toulbar2-vns": ("toulbar2-vns", {}),
    "incop": ("toulbar2-incop", {"tries": 100}),
}

MEMBERS: dict[str, tuple[str, dict[str, Any]]] = {
    name: (name, {}) for name in ("tabu", "annealing", "bp-learned", "toulbar2")
}


def structured(runs: Runs, options: argparse.Namespace) -> None:
    """Problems shaped like real ones beside toulbar2's modes."""
    _beside(runs, options, STRUCTURED, MODES, "structured")


def forbidding(runs: Runs, options: argparse.Namespace) -> None:
    """Problems that forbid much beside each member that was once better alone."""
    _beside(runs, options, FORBIDDING, MEMBERS, "forbidding")


def _beside(
    runs: Runs,
    options: argparse.Namespace,
    problems: Mapping[str, Callable[[int], Problem]],
    peers: Mapping[str, tuple[str, dict[str, Any]]],
    kind: str,
) -> None:
    """Costs after each limit, with a star where the answer is proved optimal; `auto` alone, peers two at a time."""
    table(["problem", "s", *(f"auto, {t} threads" for t in options.threads), *peers])
    for number in range(options.instances):
        for name, make in problems.items():
            if options.only and name not in options.only:
                continue
            problem = make(options.first + number)
            for seconds in options.seconds or [2.0, 10.0, 30.0]:
                key = f"{kind}-{name}-{options.first + number}-{seconds:g}s"
                rows = [
                    runs.alone(Run(f"{key}-auto-{threads}", problem, "auto", seconds, threads=threads))
                    for threads in options.threads
                ]
                rows += runs.together(
                    [Run(f"{key}-{mode}", problem, solver, seconds, params) for mode, (solver, params) in peers.items()]
                )
                cells = " | ".join(_cell(row) for row in rows)
                print(f"| {name} {options.first + number} | {seconds:g} | {cells} |", flush=True)


def _cell(row: dict[str, Any]) -> str:
    if row["cost"] is None:
        return "–"
    proved = f"*, {row['runtime']:.1f} s" if row["status"] == "OPTIMAL" else ""
    return f"{float(row['cost']):.6g}{proved}"
