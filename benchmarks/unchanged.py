"""Whether a change of shape changed anything else: every solver's trace before and after, bit for bit.

``python -m benchmarks.unchanged record FILE`` on the old checkout, ``python -m benchmarks.unchanged compare FILE`` on
the new one, on the same machine (kernels are compiled for its processor). 20 small problems of mixed arity and
domains with forbidden combinations in both directions, and one instance of each of the paper's families, with fixed
seeds and iteration limits; toulbar2, whose iterations are improvements, by its answers.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from tests.problems import random_problem

import dabp
from dabp.solvers import SOLVERS

SMALL = [("small", seed) for seed in range(700, 720)]
FAMILIES = [(family, 40) for family in ("random-cop", "graph-coloring", "scale-free", "small-world")]
ITERATIONS = {"dabp": 45, "gat-pcm-lns": 20}
"""Limits for the slow solvers; the others have `MANY`."""
MANY = 150
ENOUGH = 20.0
"""Seconds for toulbar2, which proves these long before."""


def problem(kind: str, number: int) -> dabp.Problem:
    """A small random problem, or an instance of a family with so many variables."""
    return random_problem(number) if kind == "small" else dabp.generate(kind, variables=number, seed=17)


def limits(solver: str) -> dict[str, Any]:
    """What ends a solver's run in the same place every time."""
    if solver.startswith("toulbar2"):
        return {"time_limit": ENOUGH}
    return {"max_iterations": next((v for k, v in ITERATIONS.items() if solver.startswith(k)), MANY)}


def digest(result: dabp.Result, by_iteration: bool) -> dict[str, Any]:
    """What must not change of a run."""
    answer = {
        "status": result.status.value,
        "cost": repr(result.cost),
        "bound": repr(result.bound),
        "assignment": None if result.assignment is None else hashlib.sha256(result.assignment.tobytes()).hexdigest(),
    }
    if not by_iteration:
        return answer
    costs = np.ascontiguousarray(result.trace.iteration_costs)
    trace = {"iterations": result.iterations, "costs": hashlib.sha256(costs.tobytes()).hexdigest()}
    return {**answer, **trace, "first": [repr(c) for c in costs[:3].tolist()], "last": repr(costs[-1:].tolist())}


def runs(only: list[str]) -> dict[str, dict[str, Any]]:
    """Every solver on every problem."""
    done = {}
    for solver in only or SOLVERS:
        for kind, number in SMALL + FAMILIES:
            if solver.startswith("toulbar2") and kind != "small":
                continue
            result = dabp.solve(problem(kind, number), solver, seed=3, **limits(solver))
            done[f"{solver} {kind} {number}"] = digest(result, not solver.startswith("toulbar2"))
        print(solver, file=sys.stderr, flush=True)
    return done


def main() -> None:
    """Record or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--solver", action="append", default=[], help="only this one; may be given several times")
    arguments = parser.parse_args()
    now = runs(arguments.solver)
    if arguments.action == "record":
        arguments.file.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return
    before = json.loads(arguments.file.read_text(encoding="utf-8"))
    differ = [key for key, value in now.items() if before.get(key) != value]
    for key in differ:
        print(f"{key}\n  before {before.get(key)}\n  now    {now[key]}")
    print(f"{len(now) - len(differ)} of {len(now)} runs are the same, bit for bit")
    sys.exit(bool(differ))


if __name__ == "__main__":
    main()
