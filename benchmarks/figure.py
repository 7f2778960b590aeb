"""The README's figure: best cost against time, ours and toulbar2's, on one instance a kind.

``python -m benchmarks.figure --time 20`` writes docs/pictures/benchmark.png and prints the final costs. Contestants run
one after the other, alone on the machine, one thread each (auto: two).
"""

from __future__ import annotations

import argparse
import platform
import time
from pathlib import Path

import matplotlib as mpl
import numpy as np

import dabp
from benchmarks.large_problems import grid
from dabp.driver.trace import Trace
from dabp.plots.compare import plot_compare

CONTESTANTS = [
    "auto",
    "tabu",
    "annealing",
    "bp-reinforced",
    "dabp",
    "dbp-scfg",
    "toulbar2",
    "toulbar2-vns",
    "toulbar2-incop",
]
PICTURE = Path(__file__).parents[1] / "docs" / "pictures" / "benchmark.png"


def main() -> None:
    """Run every contestant on every instance and draw them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--time", type=float, default=20.0, help="seconds a run")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--solvers", nargs="*", default=CONTESTANTS)
    chosen = parser.parse_args()
    problems = {
        "random COP, 100 variables": dabp.generate("random-cop", variables=100, seed=chosen.seed),
        "grid, 10,000 variables": grid(chosen.seed),
    }
    mpl.use("agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(problems), figsize=(11, 4.2), layout="constrained")
    machine = platform.processor() or platform.machine()
    print(f"{machine}, {time.strftime('%Y-%m-%d')}, {chosen.time:g} s, seed {chosen.seed}")
    for ax, (title, problem) in zip(axes, problems.items(), strict=True):
        traces: dict[str, Trace] = {}
        for name in chosen.solvers:
            dabp.solve(problem, name, time_limit=0.1, seed=99)  # compiles kernels and warms caches
            result = dabp.solve(problem, name, time_limit=chosen.time, threads=2 if name == "auto" else 1, seed=0)
            cost = np.nan if result.cost is None else result.cost / problem.facts.num_constraints
            print(f"{title:28s} {name:16s} {cost:9.4f} per constraint, {result.runtime:5.1f} s", flush=True)
            traces[name] = result.trace
        plot_compare(traces, ax)
        ax.set_title(title, fontsize=10)
        if ax.get_legend() is not None:
            ax.get_legend().remove()
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, frameon=False)
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(PICTURE, dpi=130)


if __name__ == "__main__":
    main()
