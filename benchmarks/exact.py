"""toulbar2 through us against the toulbar2 package alone, and mini-bucket elimination against the paper's column.

``python -m benchmarks.exact toulbar2 FOLDER`` times ``dabp solve --solver toulbar2`` on the files of a folder beside
the package reading and solving the same file, whole processes, alternating; ``python -m benchmarks.exact mbe`` runs
mini-bucket elimination on ten instances of each of the paper's families that its row has;
``python -m benchmarks.exact packing`` solves packing problems with and without the cliques found among forbidden pairs;
``python -m benchmarks.exact functions`` solves files whose functions are given by keyword.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

import dabp
from benchmarks import functions, packing

PROVED = {
    "4queens.wcsp": 0,
    "donald.wcsp": 0,
    "zebra.wcsp": 0,
    "example.wcsp": 27,
    "warehouse.wcsp": 328,
    "celar6sub0.wcsp.xz": 159,
    "404.wcsp.xz": 114,
    "GEOM40_6.wcsp.xz": 0,
    "alarm.cfn.gz": 3.157695,
    "1aho.cfn.gz": -33.729920,
    "maximization.cfn": 0.5,
    "water.uai": 7.9587615,
    "8wqueens_wcsp.xml": 2,
}
"""The optima listed with the instances."""

PAPER = {"random-cop": (60, 32.04), "graph-coloring": (60, 1.98), "scale-free": (60, 33.70), "small-world": (60, 29.67)}
"""Variables, and the paper's normalised cost of MBE with i-bound 9 (Table 1)."""

OURS = "from dabp.cli import main; main()"
PACKAGE = """
import sys, pytoulbar2
network = pytoulbar2.CFN()
network.Read(sys.argv[1])
print(network.Solve()[1])
"""


def seconds(command: list[str]) -> tuple[float, float, str]:
    """Wall-clock and CPU seconds of a process with its children, and what it printed."""
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def toulbar2(folder: Path, repeats: int) -> None:
    """One row per file: both times (median), our cost and status."""
    print(
        "| file | package: wall, CPU s | dabp: wall, CPU s | CPU difference, s | cost | listed | package's | status |"
    )
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |")
    for name, listed in PROVED.items():
        file = str(folder / name)
        package, ours = [], []
        theirs, answer = "", {"cost": None, "status": "refused"}
        for _ in range(1 if name.startswith("404") else repeats):
            *times, said = seconds([sys.executable, "-c", PACKAGE, file])
            package.append(times)
            theirs = said.strip() or "does not read it"
            *times, said = seconds([sys.executable, "-c", OURS, "solve", file, "--solver", "toulbar2", "--json"])
            ours.append(times)
            answer = json.loads(said) if said else answer
        alone, through_us = np.median(package, axis=0), np.median(ours, axis=0)
        row = f"{alone[0]:.2f}, {alone[1]:.2f} | {through_us[0]:.2f}, {through_us[1]:.2f}"
        row += f" | {through_us[1] - alone[1]:+.2f} | {answer['cost']} | {listed} | {theirs}"
        print(f"| {name} | {row} | {answer['status']} |", flush=True)


def mini_buckets(instances: int, max_entries: int) -> None:
    """One row per family: mean normalised cost and bound, and the seconds."""
    print("| family | cost | paper | ratio | bound | i-bound used | entries | s |")
    print("| --- | ---: | ---: | ---: | ---: | --- | ---: | ---: |")
    for family, (variables, paper) in PAPER.items():
        costs, bounds, times, notes = [], [], [], []
        for seed in range(instances):
            problem = dabp.generate(family, variables=variables, seed=seed)
            result = dabp.solve(problem, "mbe", params={"i_bound": 9, "max_entries": max_entries})
            costs.append(result.cost / problem.facts.num_constraints)
            bounds.append(result.bound / problem.facts.num_constraints)
            times.append(result.runtime)
            notes.append(result.notes[-1].replace(",", "").split())
        used = sorted({words[words.index("used") + 1] for words in notes})
        entries = max(int(words[-2]) for words in notes)
        cost = np.mean(costs)
        print(
            f"| {family} {variables} | {cost:.3f} | {paper} | {cost / paper:.3f} | {np.mean(bounds):.3f} "
            f"| {', '.join(used)} | {entries:,} | {np.mean(times):.1f} |",
            flush=True,
        )


def main() -> None:
    """Run the chosen part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parts = parser.add_subparsers(dest="part", required=True)
    first = parts.add_parser("toulbar2")
    first.add_argument("folder", type=Path)
    first.add_argument("--repeats", type=int, default=5)
    second = parts.add_parser("mbe")
    second.add_argument("--instances", type=int, default=10)
    second.add_argument("--max-entries", type=int, default=100_000_000)
    third = parts.add_parser("packing")
    third.add_argument("--seeds", type=int, default=3)
    third.add_argument("--time", type=float, default=20.0)
    fourth = parts.add_parser("functions")
    fourth.add_argument("--only", help="files whose name has this in it")
    fourth.add_argument("--time", type=int, default=10)
    chosen = parser.parse_args()
    if chosen.part == "toulbar2":
        toulbar2(chosen.folder, chosen.repeats)
    elif chosen.part == "packing":
        packing.compare(chosen.seeds, chosen.time)
    elif chosen.part == "functions":
        functions.compare(chosen.time, chosen.only)
    else:
        mini_buckets(chosen.instances, chosen.max_entries)


if __name__ == "__main__":
    main()
