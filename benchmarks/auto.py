"""`auto` against every solver there is, ours and others', in the times that a user would give them.

``python -m benchmarks.auto`` runs all parts at full size (days of machine time on two cores); each part alone by name:

- ``families``: the paper's families with 60, 80 and 100 variables, `auto` for 10 s with two threads beside each
  solver alone for longer; gaps to the best cost that anything found.
- ``large``: the three kinds of large problem, `auto` for 20 s beside reinforced BP and toulbar2's modes.
- ``instances``: public instances in a folder; who proves what, and when, beside toulbar2 alone for 60 s.
- ``bounds``: lower bounds after 10 s beside toulbar2's.

``--scale 0.2`` shortens all times alike, ``--instances``, ``--seeds`` and ``--sizes`` take fewer; ``--json FILE`` keeps
every run as a line and continues where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import dabp
from benchmarks.large_problems import KINDS
from dabp.formats import read
from dabp.problem import Problem

FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")
FIRST_INSTANCE = 9001
"""Seed of the first instance: far from those that anything was tuned on."""

PEERS: dict[str, tuple[str, dict[str, Any], float]] = {
    "annealing": ("annealing", {}, 20.0),
    "tabu": ("tabu", {}, 20.0),
    "bp restarts": ("bp-reinforced", {}, 20.0),
    "dabp": ("dabp", {}, 60.0),
    "toulbar2": ("toulbar2", {}, 60.0),
    "toulbar2-vns": ("toulbar2-vns", {}, 60.0),
    "toulbar2-pils": ("toulbar2-pils", {"tries": 100}, 60.0),
    "incop": ("toulbar2-incop", {}, 60.0),
    "incop long": ("toulbar2-incop", {"steps": 1_500_000}, 60.0),
}
"""Name → solver, parameters, seconds."""


class Runs:
    """Runs by key, kept in a file of JSON lines if there is one."""

    def __init__(self, path: Path | None):
        self._path = path
        self.rows: dict[str, dict[str, Any]] = {}
        if path and path.exists():
            for line in path.read_text().splitlines():
                row = json.loads(line)
                self.rows[row["key"]] = row

    def solve(self, key: str, problem: Problem, solver: str, params: dict[str, Any], **options: Any) -> dict[str, Any]:
        """Solve, unless it was done before."""
        if key not in self.rows:
            started = time.perf_counter()
            result = dabp.solve(problem, solver, params=params, **options)
            row = {
                "key": key,
                "cost": result.cost,
                "bound": result.bound,
                "status": result.status.name,
                "runtime": result.runtime,
                "wall": time.perf_counter() - started,
                "last": result.trace.improvements[-1][0] if result.trace.improvements else None,
                "notes": list(result.notes),
            }
            self.rows[key] = row
            if self._path:
                with self._path.open("a") as stream:
                    stream.write(json.dumps(row) + "\n")
        return self.rows[key]


def warm_up(problem: Problem) -> None:
    """Compile and load whatever this shape of problem needs, off the record."""
    for name in ("auto", "annealing", "tabu", "bp-reinforced"):
        dabp.solve(problem, name, time_limit=0.5, threads=2)


def families(runs: Runs, options: argparse.Namespace) -> None:
    """Gaps to the best known cost, in per cent, mean over instances (and seeds for `auto`)."""
    chosen = options.peers.split(",") if options.peers else list(PEERS)
    print("| configuration | auto | " + " | ".join(chosen) + " |\n| --- |" + " --- |" * (len(chosen) + 1))
    for family in FAMILIES:
        for variables in options.sizes:
            gaps = defaultdict(list)
            for number in range(options.instances):
                problem = dabp.generate(family, variables=variables, seed=FIRST_INSTANCE + number)
                warm_up(problem)
                key = f"{family}-{variables}-{number}-x{options.scale}"
                costs: dict[str, list[float]] = {"auto": []}
                for seed in range(options.seeds):
                    limits = {"time_limit": 10.0 * options.scale, "threads": 2, "seed": seed}
                    costs["auto"].append(runs.solve(f"{key}-auto-{seed}", problem, "auto", {}, **limits)["cost"])
                for name in chosen:
                    solver, params, seconds = PEERS[name]
                    row = runs.solve(f"{key}-{name}", problem, solver, params, time_limit=seconds * options.scale)
                    costs[name] = [np.inf if row["cost"] is None else row["cost"]]
                best = min(min(values) for values in costs.values())
                for name, values in costs.items():
                    gaps[name].append(100.0 * (np.mean(values) - best) / best)
            cells = " | ".join(f"{np.mean(gaps[name]):.3f}" for name in ["auto", *chosen])
            print(f"| {family} {variables} | {cells} |", flush=True)


def large(runs: Runs, options: argparse.Namespace) -> None:
    """Normalised costs of `auto`, of reinforced BP alone, which takes the rate that fits its time, and of toulbar2."""
    modes = ["toulbar2-incop", "toulbar2-vns"]
    names = ["auto", "bp-reinforced", *modes]
    print("| problem | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
    for kind, make in KINDS.items():
        for number in range(options.instances):
            problem = make(FIRST_INSTANCE + number)
            warm_up(problem)
            key = f"{kind}-{number}-x{options.scale}"
            limits = {"time_limit": 20.0 * options.scale, "seed": 0}
            rows = [runs.solve(f"{key}-auto", problem, "auto", {}, threads=2, **limits)]
            rows.append(runs.solve(f"{key}-bp", problem, "bp-reinforced", {}, **limits))
            seconds = 60.0 * options.scale
            rows += [runs.solve(f"{key}-{mode}", problem, mode, {}, time_limit=seconds) for mode in modes]
            cells = [row["cost"] / problem.num_constraints if row["cost"] is not None else np.inf for row in rows]
            print(f"| {kind} {number} | " + " | ".join(f"{cell:.4f}" for cell in cells) + " |", flush=True)


def instances(runs: Runs, options: argparse.Namespace) -> None:
    """Cost, bound, status and seconds of `auto` and of toulbar2 alone."""
    print("| instance | auto | s | toulbar2 | s | auto: time / (1.5 × toulbar2 + 2 s) |\n| --- |" + " --- |" * 5)
    seconds = 60.0 * options.scale
    for path in sorted(options.folder.iterdir()):
        try:
            problem = read(str(path))
        except dabp.DabpError:
            continue
        warm_up(problem)
        ours = runs.solve(f"{path.name}-auto", problem, "auto", {}, time_limit=seconds, threads=2)
        peer = runs.solve(f"{path.name}-toulbar2", problem, "toulbar2", {}, time_limit=seconds)
        ratio = f"{ours['runtime'] / (1.5 * peer['runtime'] + 2):.2f}" if peer["status"] == "OPTIMAL" else "–"
        cells = [f"{row['cost']:.8g}, {row['status']} | {row['runtime']:.2f}" for row in (ours, peer)]
        print(f"| {path.name} | {' | '.join(cells)} | {ratio} |", flush=True)


def bounds(runs: Runs, options: argparse.Namespace) -> None:
    """Normalised lower bounds after 10 s."""
    print("| configuration | auto's bound | toulbar2's bound | auto's cost |\n| --- | --- | --- | --- |")
    for family in FAMILIES:
        for variables in options.sizes:
            problem = dabp.generate(family, variables=variables, seed=FIRST_INSTANCE)
            warm_up(problem)
            key, seconds = f"{family}-{variables}-0-x{options.scale}", 10.0 * options.scale
            ours = runs.solve(f"{key}-auto-0", problem, "auto", {}, time_limit=seconds, threads=2, seed=0)
            peer = runs.solve(f"{key}-bound", problem, "toulbar2", {}, time_limit=seconds)
            cells = [value / problem.num_constraints for value in (ours["bound"], peer["bound"], ours["cost"])]
            print(f"| {family} {variables} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


PARTS = {"families": families, "large": large, "instances": instances, "bounds": bounds}


def main() -> None:
    """Run the parts asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument("--scale", type=float, default=1.0, help="all times are multiplied by this")
    parser.add_argument("--instances", type=int, default=5, help="instances of each configuration")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of auto on each")
    parser.add_argument("--sizes", type=int, nargs="*", default=[60, 80, 100], help="numbers of variables")
    parser.add_argument("--peers", help="solvers beside auto, separated by commas; all by default")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[2] / "shared" / "instances")
    parser.add_argument("--json", type=Path, help="keep runs here and continue from it")
    options = parser.parse_args()
    runs = Runs(options.json)
    for part in options.parts:
        print(f"\n## {part}\n")
        PARTS[part](runs, options)


if __name__ == "__main__":
    main()
