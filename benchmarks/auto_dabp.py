"""Whether DABP pays as a member of `auto` below a minute: ``python -m benchmarks.auto_dabp [--time 10] [--seeds 3]``.

`auto` with and without it, in turn, two threads, on instances of the paper's four families with 60 and 100 variables.
Printed is how many percent the answer with DABP is above the one without; below 0 it pays.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import replace
from unittest import mock

import dabp
from dabp.solvers.auto import line_up

FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")


def solved(problem: dabp.Problem, seconds: float, *, member: bool) -> float:
    """The cost that `auto` finds, with DABP among its members or not; how much time it gets is the scheduler's."""
    members = [replace(each, applies=lambda *_: member) if each.solver == "dabp" else each for each in line_up.MEMBERS]
    with mock.patch.object(line_up, "MEMBERS", tuple(members)):
        result = dabp.solve(problem, "auto", time_limit=seconds, threads=2, seed=1)
    assert result.cost is not None
    return float(result.cost)


def main() -> None:
    """Solve in turn and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--time", type=float, default=10.0, help="seconds of each solve")
    parser.add_argument("--seeds", type=int, default=3, help="instances of each family and size")
    options = parser.parse_args()
    differences = []
    for variables in (60, 100):
        for family in FAMILIES:
            for seed in range(options.seeds):
                problem = dabp.generate(family, variables=variables, seed=900 + seed)
                pair = {
                    member: solved(problem, options.time, member=member) for member in (seed % 2 == 0, seed % 2 == 1)
                }
                differences.append(100 * (pair[True] / pair[False] - 1))
                print(f"{family:16s} {variables:4d} seed {900 + seed}: {differences[-1]:+.3f} %", flush=True)
    better, worse = sum(d < 0 for d in differences), sum(d > 0 for d in differences)
    print(f"with DABP: better {better}, worse {worse}, equal {len(differences) - better - worse}")
    print(f"mean {statistics.mean(differences):+.3f} %")


if __name__ == "__main__":
    main()
