"""Whether `auto` answers as well as another version does: ``python -m benchmarks.versions OLD``.

OLD is the root of another checkout with an environment in ``.venv``. Each problem of the suite of the ablation is
solved by both versions in turn, each in a process of its own, with the same seeds. The table has a row per kind of
problem and time limit: how far the new answers are above the old ones in per cent of these (mean and median over
problems and seeds), on how many they are better and worse by more than `NOISE`, and the mean seconds until the first
answer. ``--json FILE`` keeps every pair of runs and continues where it was interrupted.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.auto_ablation import NOISE, suite
from benchmarks.auto_runs import table
from dabp.problem import Problem

ROOT = Path(__file__).parents[1]
INSTANCES = ROOT.parent / "shared" / "instances"

SOLVE = """
import json, sys
import numpy as np
import dabp
columns = dict(np.load(sys.argv[1]))
options = {name: columns.pop(name).item() for name in ("constant", "maximize", "limit")}
options["limit"] = None if np.isnan(options["limit"]) else options["limit"]
problem = dabp.Problem(**columns, **options)
result = dabp.solve(problem, time_limit=float(sys.argv[2]), threads=int(sys.argv[3]), seed=int(sys.argv[4]))
first = result.trace.improvements[0][0] if result.trace.improvements else None
sign = -1.0 if problem.maximize else 1.0
cost = None if result.cost is None else sign * result.cost
print(json.dumps({"cost": cost, "status": result.status.name, "first": first, "runtime": result.runtime}))
"""
"""What runs in the environment of each version: a problem, seconds, threads and a seed; prints a line of JSON."""


def save(problem: Problem, path: Path) -> None:
    """The columns of a problem, as both versions take them."""
    np.savez(
        path,
        domain_sizes=problem.domain_sizes,
        scope_variables=problem.scope_variables,
        scope_offsets=problem.scope_offsets,
        pool=problem.pool,
        pool_offsets=problem.pool_offsets,
        factor_table=problem.factor_table,
        constant=problem.constant,
        maximize=problem.maximize,
        limit=np.nan if problem.limit is None else problem.limit,
    )


def solve(checkout: Path, file: Path, seconds: float, threads: int, seed: int) -> dict[str, Any]:
    """One run of one version."""
    python = checkout / ".venv" / "bin" / "python"
    words = [python, "-c", SOLVE, str(file), str(seconds), str(threads), str(seed)]
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}  # whatever the environment installed
    done = subprocess.run(words, cwd=file.parent, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        return {"cost": None, "status": "FAILED", "first": None, "error": done.stderr[-500:]}
    return dict(json.loads(done.stdout.splitlines()[-1]))


def excess(old: float | None, new: float | None) -> float:
    """How far the new cost is above the old one, as a part of its size; 1 or −1 where only one found an answer."""
    if old is None or new is None:
        return float((new is None) - (old is None))
    return (new - old) / max(abs(old), 1e-9)


def show(rows: list[dict[str, Any]]) -> None:
    """A row per kind and time limit, and one for all."""
    kinds: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kinds[f"{row['problem'].split()[0]}, {row['seconds']:g} s"].append(row)
    kinds["all"] = rows
    table(["kind", "runs", "mean excess, %", "median, %", "better", "worse", "first answer, s (old)", "(new)"])
    for kind, found in kinds.items():
        values = np.array([excess(row["old"]["cost"], row["new"]["cost"]) for row in found])
        firsts = [
            np.mean([row[side]["first"] for row in found if row[side]["first"] is not None] or [np.nan])
            for side in ("old", "new")
        ]
        counts = [str((values < -NOISE).sum()), str((values > NOISE).sum())]
        means = [f"{100 * values.mean():+.4f}", f"{100 * np.median(values):+.4f}"]
        cells = [kind, str(len(found)), *means, *counts, *(f"{first:.2f}" for first in firsts)]
        print(f"| {' | '.join(cells)} |")
    for row in sorted(rows, key=lambda row: -excess(row["old"]["cost"], row["new"]["cost"]))[:12]:
        worse = 100 * excess(row["old"]["cost"], row["new"]["cost"])
        if worse > 100 * NOISE:
            print(f"{row['problem']}, {row['seconds']:g} s, seed {row['seed']}: {worse:+.3f} %")


def main() -> None:
    """Run what is not recorded yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", type=Path, help="root of the other checkout")
    parser.add_argument("--folder", type=Path, default=INSTANCES, help="of real instances")
    parser.add_argument("--seconds", type=float, nargs="*", default=[2.0, 10.0])
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--only", default="", help="problems whose names contain this")
    parser.add_argument("--json", type=Path, help="keeps every pair of runs; what is there is not run again")
    options = parser.parse_args()
    rows = []
    if options.json and options.json.exists():
        rows = [json.loads(line) for line in options.json.read_text(encoding="utf-8").splitlines()]
    done = {(row["problem"], row["seconds"], row["seed"]) for row in rows}
    with tempfile.TemporaryDirectory() as place:
        for name, make in suite(options.folder).items():
            wanted = [(s, seed) for s in options.seconds for seed in options.seeds if (name, s, seed) not in done]
            if options.only not in name or not wanted:
                continue
            file = Path(place) / "problem.npz"
            save(make(), file)
            for seconds, seed in wanted:
                checkouts = {"old": options.old.resolve(), "new": ROOT}
                order = list(checkouts) if len(rows) % 2 else list(checkouts)[::-1]
                found = {side: solve(checkouts[side], file, seconds, options.threads, seed) for side in order}
                rows.append({"problem": name, "seconds": seconds, "seed": seed, **found})
                print(name, seconds, found["old"]["cost"], found["new"]["cost"], file=sys.stderr, flush=True)
                if options.json:
                    with options.json.open("a", encoding="utf-8") as stream:
                        stream.write(json.dumps(rows[-1]) + "\n")
    show(rows)


if __name__ == "__main__":
    main()
