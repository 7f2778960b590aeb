"""Quality of DABP (R = 5) beside the same without learning and static damping, at equal iterations and equal CPU time.

    python -m benchmarks.dabp_quality run --out results.jsonl [--families random-cop scale-free …] [--instances 10]
    python -m benchmarks.dabp_quality table results.jsonl

Instances are the paper's with 60 variables, seeds 1, 2, …; costs are divided by the number of constraints. Time is
this process's CPU time on one thread, so that other work on the machine does not count. Results are appended, and runs
already in the file are not repeated.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

import dabp
from dabp.solvers import make_solver
from dabp.solvers.base import Budget

FAMILIES = {
    "random-cop": ({"density": 0.25}, 27.19),
    "graph-coloring": ({"density": 0.25}, 0.32),
    "scale-free": ({}, 28.93),
    "small-world": ({}, 25.84),
}
"""Generator parameters besides the size, and the paper's Table 1 for DABP, R = 5."""
RESTARTS, MANY = 5, 10**6
PEERS = {
    "dabp-static": ("dabp-static", {"restarts": MANY}),
    "dbp-scfg λ=0.5": ("dbp-scfg", {"damping": 0.5, "jitter": 0.2, "restarts": MANY}),
}


def follow(name: str, params: dict, problem, seconds: float | None, iterations: int | None) -> dict[str, float]:
    """Step a solver until its end, or until both limits are passed; the best cost at each."""
    search = make_solver(name, params).start(problem, seed=0, budget=Budget())
    search.step()  # compiles
    search.close()
    search = make_solver(name, params).start(problem, seed=0, budget=Budget())
    start, done, best = time.process_time(), 0, np.inf
    at_iterations = at_seconds = None
    while True:
        step = search.step()
        used = time.process_time() - start
        if iterations is not None and at_iterations is None and done + len(step.costs) >= iterations:
            at_iterations = min(best, *step.costs[: iterations - done])
        if seconds is not None and at_seconds is None and used >= seconds:
            at_seconds = min(best, *step.costs)
        done += len(step.costs)
        best = min([best, *step.costs])
        if step.finished or (seconds is not None and at_iterations is not None and at_seconds is not None):
            break
    search.close()
    return {
        "best": float(best),
        "iterations": done,
        "seconds": used,
        "at_iterations": float(best if at_iterations is None else at_iterations),
        "at_seconds": float(best if at_seconds is None else at_seconds),
    }


def run(out: Path, families: list[str], instances: int) -> None:
    """One line of JSON per instance, instance by instance over the families."""
    known = {(row["family"], row["seed"]) for row in load(out)} if out.exists() else set()
    for seed in range(1, instances + 1):
        for family in families:
            if (family, seed) in known:
                continue
            options, _ = FAMILIES[family]
            problem = dabp.generate(family, variables=60, seed=seed, **options)
            row = {"family": family, "seed": seed, "constraints": problem.facts.num_constraints}
            row["dabp"] = ours = follow("dabp", {"restarts": RESTARTS}, problem, None, None)
            for peer, (name, params) in PEERS.items():
                row[peer] = follow(name, params, problem, ours["seconds"], int(ours["iterations"]))
            with open(out, "a", encoding="utf-8") as stream:
                stream.write(json.dumps(row) + "\n")


def load(path: Path) -> list[dict]:
    """The lines written so far."""
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def table(path: Path) -> None:
    """Means with standard errors, and paired differences to DABP."""
    rows = load(path)
    print("| family | instances | paper R=5 | dabp R=5 | s.e. | iterations | CPU s |", end="")
    print(" static, same iterations | same time | dbp-scfg λ=0.5, same iterations | same time |")
    print("|" + " --- |" * 11)
    for family, (_, paper) in FAMILIES.items():
        mine = [row for row in rows if row["family"] == family]
        if not mine:
            continue
        scale = np.array([row["constraints"] for row in mine])
        ours = np.array([row["dabp"]["best"] for row in mine]) / scale
        cells = [family, str(len(mine)), f"{paper:.2f}", f"{ours.mean():.3f}", f"{error(ours):.3f}"]
        cells += [f"{np.mean([row['dabp'][key] for row in mine]):.0f}" for key in ("iterations", "seconds")]
        for peer in PEERS:
            for key in ("at_iterations", "at_seconds"):
                theirs = np.array([row[peer][key] for row in mine]) / scale
                change = theirs - ours
                cells.append(f"{theirs.mean():.3f} ({change.mean():+.3f} ± {error(change):.3f})")
        print("| " + " | ".join(cells) + " |")


def error(values: np.ndarray) -> float:
    """The standard error of the mean."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")


def main() -> None:
    """Run, or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["run", "table"])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--families", nargs="*", default=list(FAMILIES))
    parser.add_argument("--instances", type=int, default=10)
    given = parser.parse_args()
    if given.what == "table":
        table(given.file or given.out)
    else:
        run(given.out, given.families, given.instances)


if __name__ == "__main__":
    main()
