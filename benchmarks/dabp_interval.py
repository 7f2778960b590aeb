"""DABP whose network is asked every iteration (the paper's) against once a window, at equal CPU time.

    python -m benchmarks.dabp_interval speed                   # CPU ms an iteration by interval
    python -m benchmarks.dabp_interval quality 5 3             # 5 s of CPU a run, 3 instances of each family

Everything runs on one thread in this process. Both solvers are stopped when they have used so much CPU time, the first
window not counted, in which kernels are loaded; costs are divided by the number of constraints.
"""

from __future__ import annotations

import sys
import time

import numpy as np

import dabp
from dabp.solvers import make_solver
from dabp.solvers.base import Budget, Search

INTERVALS = (1, 5, 20)
FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")


def window(search: Search) -> tuple[int, float, float]:
    """A window: iterations, CPU seconds, best cost."""
    start, count, best = time.process_time(), 0, np.inf
    while True:
        step = search.step()
        count, best = count + len(step.costs), min(best, float(step.costs.min()))
        if search.at_boundary:
            return count, time.process_time() - start, best


def speed() -> None:
    """CPU time of an iteration, backward pass and update included; the median of interleaved windows."""
    print("| variables | " + " | ".join(f"every {n}, CPU ms" for n in INTERVALS) + " | ratio of first to last |")
    print("| --- " * (len(INTERVALS) + 2) + "|")
    for variables in (60, 100):
        problem = dabp.generate("random-cop", variables=variables, density=0.25, seed=1)
        searches = [
            make_solver("dabp", {"network_interval": n, "tolerance": 0.0}).start(problem, seed=0, budget=Budget())
            for n in INTERVALS
        ]
        times = []
        for _ in range(7):
            made = [window(search) for search in searches]
            times.append([1000 * seconds / count for count, seconds, _ in made])
        ms = np.median(times[1:], axis=0)
        print(f"| {variables} | " + " | ".join(f"{one:.1f}" for one in ms) + f" | {ms[0] / ms[-1]:.1f} |", flush=True)


def best_within(problem: dabp.Problem, interval: int, seconds: float) -> tuple[float, int]:
    """The best cost within so much CPU time, and the iterations made."""
    params = {"network_interval": interval, "restarts": 10_000}
    search = make_solver("dabp", params).start(problem, seed=0, budget=Budget())
    iterations, _, best = window(search)
    spent = 0.0
    while spent < seconds:
        count, used, cost = window(search)
        iterations, spent, best = iterations + count, spent + used, min(best, cost)
    search.close()
    return best, iterations


def quality(seconds: float, instances: int) -> None:
    """Best costs at equal CPU time, 60 variables."""
    print("| family | instances | every iteration | once a window | difference ± s.e. | iterations | wins |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for family in FAMILIES:
        costs, iterations = np.zeros((instances, 2)), np.zeros((instances, 2))
        for number in range(instances):
            problem = dabp.generate(family, variables=60, seed=501 + number)
            for column, interval in enumerate((INTERVALS[0], INTERVALS[-1])):
                best, iterations[number, column] = best_within(problem, interval, seconds)
                costs[number, column] = best / problem.num_factors
        change = costs[:, 1] - costs[:, 0]
        error = change.std(ddof=1) / np.sqrt(instances)
        means, counts = costs.mean(0), iterations.mean(0)
        wins = f"{int((change > 0).sum())} : {int((change < 0).sum())}"
        print(
            f"| {family} | {instances} | {means[0]:.3f} | {means[1]:.3f} | {change.mean():+.3f} ± {error:.3f} "
            f"| {counts[0]:.0f}, {counts[1]:.0f} | {wins} |",
            flush=True,
        )


if __name__ == "__main__":
    what, *arguments = sys.argv[1:] or ["speed"]
    if what == "speed":
        speed()
    else:
        quality(float(arguments[0]), int(arguments[1]))
