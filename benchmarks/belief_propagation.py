"""Belief propagation: speed beside PyTorch and PGMax, growth, forests, quality beside the paper and toulbar2.

``python -m benchmarks.belief_propagation [speed growth forest quality large]`` prints the named parts as Markdown, all
by default. Times are CPU seconds of one thread on one core, the least of several interleaved repetitions, as the
machine may be shared. (PGMax is not a dependency of the project: ``pip install pgmax``.)
"""

from __future__ import annotations

import os
import resource
import sys
import time
from collections.abc import Callable

import numpy as np

import dabp
from benchmarks.large_problems import KINDS, sparse
from dabp.graph import FactorGraph
from dabp.kernels.belief_propagation.message_arrays import Rules
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.solvers.belief_propagation.engine import MinSum

PAPER = {"random-cop": 27.60, "scale-free": 29.27, "small-world": 26.30}
"""Table 1, DBP-SCFG, 60 variables."""
FAMILIES: dict[str, dict[str, object]] = {
    "random-cop": {"density": 0.25},
    "scale-free": {"m0": 10, "m1": 10},
    "small-world": {"k": 10, "p": 0.3},
}
INSTANCES = 20
LARGE_SEEDS = (11, 12)


def seconds_an_iteration(contestants: dict[str, tuple[Callable[[int], object], int]], rounds: int) -> dict[str, float]:
    """Least CPU time of an iteration, contestants in turn; each is warmed up and runs its own number of iterations."""
    best = dict.fromkeys(contestants, np.inf)
    for run, iterations in contestants.values():
        run(iterations)
    for _ in range(rounds):
        for name, (run, iterations) in contestants.items():
            start = time.process_time()
            run(iterations)
            best[name] = min(best[name], (time.process_time() - start) / iterations)
    return best


def ours(problem: Problem, graph: FactorGraph, damping: float) -> Callable[[int], object]:
    """Iterations of our engine, decoded and costed each, from zero messages."""
    engine = MinSum(problem, graph)

    def run(iterations: int) -> object:
        engine.reset(damping)
        return engine.run(iterations, Rules())

    return run


def speed() -> None:
    """Milliseconds an iteration of dbp-scfg beside the peers, and the share of the processor's limit."""
    import torch

    from benchmarks.message_passing_peers import pgmax_iterations, throughput_loop, torch_iterations

    torch.set_num_threads(1)
    loop, operations = throughput_loop()
    print("\n| random COP, domain 15, density 0.25 | 60 variables | 100 variables |\n| --- | --- | --- |")
    rows: dict[str, list[str]] = {}
    for variables in (60, 100):
        problem = generate("random-cop", variables=variables, domain=15, density=0.25, seed=1)
        split, plain = FactorGraph.from_problem(problem, split_ratio=0.95), FactorGraph.from_problem(problem)
        took = seconds_an_iteration(
            {
                "dabp": (ours(problem, split, 0.9), 400),
                "dabp, not split": (ours(problem, plain, 0.9), 400),
                "PyTorch": (torch_iterations(problem, split, 0.9), 40),
                "PGMax, not split": (pgmax_iterations(problem, plain, 0.9), 400),
                "limit": (loop, 4000),
            },
            rounds=7,
        )
        work = 2 * 2 * sum(g.num_factors * g.tables[0].size for g in split.groups) * 2
        limit, reached = operations / took["limit"] / 1e9, work / took["dabp"] / 1e9
        for name in ("dabp", "PyTorch", "dabp, not split", "PGMax, not split"):
            edges = plain.num_edges if "not" in name else split.num_edges
            text = f"{1e3 * took[name]:.4f} ms, {1e9 * took[name] / edges:.1f} ns an edge"
            rows.setdefault(name, []).append(text)
        rows.setdefault("PyTorch / dabp", []).append(f"{took['PyTorch'] / took['dabp']:.1f} times")
        a_edge = took["PGMax, not split"] / plain.num_edges, took["dabp"] / split.num_edges
        rows.setdefault("PGMax / dabp, an edge", []).append(f"{a_edge[0] / a_edge[1]:.1f} times")
        rows.setdefault("additions and minima of dabp, of the loop in cache", []).append(
            f"{reached:.1f} of {limit:.1f} billion a second: {100 * reached / limit:.0f} %"
        )
    for name, cells in rows.items():
        print(f"| {name} | {' | '.join(cells)} |")


def growth() -> None:
    """Time per edge at 1,000 and at 100,000 variables."""
    print("\n| average degree 6, domain 5 | 1,000 variables | 100,000 variables | ratio |\n| --- | --- | --- | --- |")
    for name, ratio in (("dbp-scfg", 0.95), ("bp", None)):
        runs, edges = {}, {}
        for variables, iterations in ((1000, 100), (100_000, 100)):
            problem = sparse(variables, seed=1)
            graph = FactorGraph.from_problem(problem, split_ratio=ratio)
            edges[str(variables)] = graph.num_edges
            runs[str(variables)] = (ours(problem, graph, 0.9), iterations)
        took = seconds_an_iteration(runs, rounds=5)
        small, large = (1e9 * took[key] / edges[key] for key in took)
        print(f"| {name}, 100 iterations | {small:.1f} ns an edge | {large:.1f} ns an edge | {large / small:.2f} |")


def random_tree(count: int, domain: int) -> Problem:
    """A tree in which each variable hangs on a random earlier one, costs 0..100."""
    rng, cells = np.random.default_rng(0), domain * domain
    above = (rng.random(count - 1) * np.arange(1, count)).astype(np.int64)
    edges, steps = np.stack([above, np.arange(1, count)], axis=1), np.arange(count)
    costs = rng.integers(0, 101, size=(count - 1) * cells)
    return Problem(np.full(count, domain), edges.ravel(), 2 * steps, costs, cells * steps)


def forest() -> None:
    """A random tree of a million variables: built, solved and costed."""
    start, count = time.perf_counter(), 1_000_000
    problem = random_tree(count, 5)
    result = dabp.solve(problem, "bp")
    cost = problem.cost(result.assignment)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(
        f"\nTree of {count:,} variables, domain 5: {result.status.value}, cost {cost:.0f}, "
        f"{time.perf_counter() - start:.1f} s in all, peak {peak:.2f} GB"
    )


def quality() -> None:
    """Mean normalised cost on the paper's families, with standard errors."""
    print(f"\n{INSTANCES} instances a family (seeds 1..{INSTANCES}), 60 variables, domain 15\n")
    print("| | " + " | ".join(FAMILIES) + " |\n| --- |" + " --- |" * len(FAMILIES))
    schedules: dict[str, dict[str, object]] = {
        "dbp-scfg (λ = 0.9, 1,000 iterations)": {},
        "dbp-scfg (λ = 0.5, jitter 0.3, 20 restarts)": {"damping": 0.5, "jitter": 0.3, "restarts": 20},
    }
    costs: dict[tuple[str, str], np.ndarray] = {}
    for label, params in schedules.items():
        for family, shape in FAMILIES.items():
            found = []
            for seed in range(1, INSTANCES + 1):
                problem = generate(family, variables=60, domain=15, seed=seed, **shape)
                result = dabp.solve(problem, "dbp-scfg", params=params)
                found.append(result.cost / problem.facts.num_constraints)
            costs[label, family] = np.array(found)
    for label in schedules:
        print(f"| {label} | " + " | ".join(_mean(costs[label, family]) for family in FAMILIES) + " |")
    base, tuned = schedules
    print("| paper's Table 1, DBP-SCFG | " + " | ".join(f"{PAPER[family]:.2f}" for family in FAMILIES) + " |")
    above = [100 * (costs[base, family].mean() / PAPER[family] - 1) for family in FAMILIES]
    print("| λ = 0.9 above the paper | " + " | ".join(f"{value:+.2f} %" for value in above) + " |")
    below = [_mean(100 * (1 - costs[tuned, family] / costs[base, family]), " %") for family in FAMILIES]
    print("| λ = 0.5 with restarts below λ = 0.9 | " + " | ".join(below) + " |")


def large() -> None:
    """bp-reinforced in 5 s beside toulbar2's INCOP in 60 s on large problems."""
    print(f"\nSeeds {', '.join(map(str, LARGE_SEEDS))}\n")
    print("| | bp-reinforced, 5 s | toulbar2-incop, 60 s | bp-reinforced below |\n| --- | --- | --- | --- |")
    for kind, make in KINDS.items():
        pairs = []
        for seed in LARGE_SEEDS:
            problem = make(seed)
            result = dabp.solve(problem, "bp-reinforced", time_limit=5, seed=seed)
            peer = dabp.solve(problem, "toulbar2-incop", time_limit=60, seed=seed)
            pairs.append([run.cost / problem.facts.num_constraints for run in (result, peer)])
        mine, other = np.array(pairs).T
        print(f"| {kind} | {_mean(mine)} | {_mean(other)} | {_mean(100 * (1 - mine / other), ' %')} |", flush=True)


def _mean(values: np.ndarray, unit: str = "") -> str:
    error = values.std(ddof=1) / np.sqrt(len(values))
    return f"{values.mean():.3f} ± {error:.3f}{unit}"


PARTS = {"speed": speed, "growth": growth, "forest": forest, "quality": quality, "large": large}

if __name__ == "__main__":
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print(f"{time.strftime('%Y-%m-%d')}, python -m benchmarks.belief_propagation {' '.join(sys.argv[1:])}".strip())
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
