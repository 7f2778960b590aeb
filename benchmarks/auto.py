"""`auto` against every solver there is, ours and others', in the times that a user would give them.

``python -m benchmarks.auto`` runs the first five parts at full size (about five hours on two cores); a part by name:

- ``families``: the paper's families with 60, 80 and 100 variables, `auto` for 10 s with two threads beside each
  solver alone for longer; gaps to the best cost that anything found.
- ``large``: the three kinds of large problem, `auto` for 20 s beside reinforced BP and toulbar2's modes.
- ``instances``: public instances in a folder; who proves what, and when, beside toulbar2 alone for 60 s.
- ``bounds``: lower bounds after 10 s beside toulbar2's.
- ``narrow``: a tree of a million variables and ten thousand components, solved exactly.
- ``vision``: five image problems a seed (``vision.py`` in the folder of instances) after 2, 5 and 10 s beside the dual
  and expansion moves alone; gaps to the best bound.
- ``grids``: a million variables on a grid, Potts and random, after 10 and 60 s; also how late the answers are.
- ``between``: the paper's families with 200, 300 and 500 variables beside the members alone.
- ``max-cut``: Gset graphs of the folder and fresh ones.
- ``structured``: frequencies, satellites, pedigrees and proteins beside toulbar2's modes after 2, 10 and 30 s.
- ``forbidding``: warehouses, independent sets, covers, colourings, queens, matchings, knapsacks, capacities, Latin
  squares, many values beside single members.
- ``kinds``: random problems of all kinds with limits of 0.5 and 3 s: no first guess where a member alone finds better,
  and no overrun.

``python -m benchmarks.auto ablation`` leaves out each member and each rule in turn, ``fit`` fits the members' weights;
both have options of their own.

``--scale 0.2`` shortens all times alike, ``--instances``, ``--seeds`` and ``--sizes`` take fewer; ``--json FILE`` keeps
every run as a line and continues where it was interrupted. `auto` runs alone, on two threads; the peers, which have one
thread each, run two at a time, each in a process of its own.
"""

from __future__ import annotations

import argparse
import resource
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

import dabp
from benchmarks import auto_ablation, auto_weights
from benchmarks.auto_images import grids, vision
from benchmarks.auto_members import between, kinds, max_cut
from benchmarks.auto_runs import Run, Runs, cost_of, table
from benchmarks.auto_structured import forbidding, structured
from benchmarks.belief_propagation import random_tree
from benchmarks.large_problems import KINDS
from dabp.formats import read
from dabp.problem import Problem

FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")
FIRST_INSTANCE = 20_001
"""Seed of the first instance: far from those that anything was tuned on."""

PEERS: dict[str, tuple[str, dict[str, Any], float]] = {
    "annealing": ("annealing", {}, 20.0),
    "tabu": ("tabu", {}, 20.0),
    "bp restarts": ("dbp-scfg", {"damping": 0.5, "jitter": 0.4, "restarts": 1_000_000}, 20.0),
    "dabp": ("dabp", {}, 60.0),
    "toulbar2": ("toulbar2", {}, 60.0),
    "toulbar2-vns": ("toulbar2-vns", {}, 60.0),
    "toulbar2-pils": ("toulbar2-pils", {"tries": 100}, 60.0),
    "incop": ("toulbar2-incop", {"steps": 1_500_000, "tries": 100}, 60.0),
}
"""Name → solver, parameters, seconds. INCOP is given long runs, as many as fit its time."""

LARGE_PEERS: dict[str, tuple[str, dict[str, Any]]] = {
    "toulbar2": ("toulbar2", {}),
    "toulbar2-vns": ("toulbar2-vns", {}),
    "toulbar2-pils": ("toulbar2-pils", {"tries": 100}),
    "incop default": ("toulbar2-incop", {"tries": 100}),
}
"""For 60 s; INCOP's long runs would not end within that here, so that it has its default ones."""


def families(runs: Runs, options: argparse.Namespace) -> None:
    """Gaps to the best known cost, in per cent, mean over instances (and seeds for `auto`).

    All configurations have their first instance before any has its second, so that an interrupted run is of use.
    """
    chosen = options.peers.split(",") if options.peers else list(PEERS)
    gaps: dict[tuple[str, int], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for number in range(options.instances):
        plans = [
            (family, variables, *_family_runs(options, family, variables, number, chosen))
            for family in FAMILIES
            for variables in options.sizes
        ]
        ours = [[cost_of(runs.alone(run)) for run in mine] for _, _, mine, _ in plans]
        runs.together([run for _, _, _, peers in plans for run in peers])
        for (family, variables, _, peers), values in zip(plans, ours, strict=True):
            costs = {"auto": float(np.mean(values))}
            costs |= {name: cost_of(row) for name, row in zip(chosen, runs.together(peers), strict=True)}
            best = min(*values, *costs.values())
            for name, cost in costs.items():
                gaps[family, variables][name].append(100.0 * (cost - best) / best)
    table(["configuration", "auto", *chosen, "auto above the best single solver"])
    for (family, variables), columns in gaps.items():
        means = [float(np.mean(columns[name])) for name in ["auto", *chosen]]
        cells = [f"{round(mean, 3) + 0.0:.3f}" for mean in [*means, means[0] - min(means[1:])]]
        print(f"| {family} {variables} | {' | '.join(cells)} |", flush=True)
    print(f"\nauto, mean over all: {np.mean([columns['auto'] for columns in gaps.values()]):.3f} %")


def _family_runs(
    options: argparse.Namespace, family: str, variables: int, number: int, chosen: list[str]
) -> tuple[list[Run], list[Run]]:
    """`auto` with each seed, and its peers, on one instance."""
    problem = dabp.generate(family, variables=variables, seed=options.first + number)
    key, scale = f"{family}-{variables}-{options.first + number}-x{options.scale:g}", options.scale
    ours = [
        Run(f"{key}-auto-{seed}", problem, "auto", 10.0 * scale, threads=2, seed=seed) for seed in range(options.seeds)
    ]
    peers = [
        Run(f"{key}-{name}", problem, solver, seconds * scale, params)
        for name, (solver, params, seconds) in ((name, PEERS[name]) for name in chosen)
    ]
    return ours, peers


def large(runs: Runs, options: argparse.Namespace) -> None:
    """Normalised costs of `auto`, of reinforced BP alone, which takes the rate that fits its time, and of toulbar2."""
    names = ["auto", "bp-reinforced", *LARGE_PEERS]
    table(["problem", *names, "auto below toulbar2's best, %"])
    scale = options.scale
    for number in range(options.instances):
        for kind, make in KINDS.items():
            seed = options.first + number
            problem = make(seed)
            key = f"{kind}-{seed}-x{scale:g}"
            rows = [runs.alone(Run(f"{key}-auto", problem, "auto", 20.0 * scale, threads=2))]
            rows.append(runs.alone(Run(f"{key}-bp", problem, "bp-reinforced", 20.0 * scale)))
            peers = [
                Run(f"{key}-{name}", problem, solver, 60.0 * scale, params)
                for name, (solver, params) in LARGE_PEERS.items()
            ]
            rows += runs.together(peers)
            costs = [cost_of(row) / problem.facts.num_constraints for row in rows]
            below = 100.0 * (1.0 - costs[0] / min(costs[2:]))
            print(f"| {kind} {seed} | " + " | ".join(f"{cost:.4f}" for cost in costs) + f" | {below:.1f} |", flush=True)


def instances(runs: Runs, options: argparse.Namespace) -> None:
    """Cost, bound, status and seconds of `auto` and of toulbar2 alone."""
    table(["instance", "auto", "s", "toulbar2", "s", "auto: time / (1.5 × toulbar2 + 2 s)"])
    seconds = 60.0 * options.scale
    for path in sorted(options.folder.iterdir()):
        if options.only and path.name not in options.only:
            continue
        try:
            problem = read(str(path))
        except dabp.DabpError:
            continue
        ours = runs.alone(Run(f"{path.name}-auto", problem, "auto", seconds, threads=2))
        peer = runs.alone(Run(f"{path.name}-toulbar2", problem, "toulbar2", seconds))
        ratio = f"{ours['runtime'] / (1.5 * peer['runtime'] + 2):.2f}" if peer["status"] == "OPTIMAL" else "–"
        cells = [f"{row['cost']:.8g}, {row['status']} | {row['runtime']:.2f}" for row in (ours, peer)]
        print(f"| {path.name} | {' | '.join(cells)} | {ratio} |", flush=True)


def bounds(runs: Runs, options: argparse.Namespace) -> None:
    """Normalised lower bounds after 10 s."""
    table(["configuration", "auto's bound", "toulbar2's bound", "auto's cost"])
    seconds = 10.0 * options.scale
    for family in FAMILIES:
        for variables in options.sizes:
            problem = dabp.generate(family, variables=variables, seed=options.first)
            key = f"{family}-{variables}-{options.first}-x{options.scale:g}"
            ours = runs.alone(Run(f"{key}-auto-0", problem, "auto", seconds, threads=2))
            peer = runs.alone(Run(f"{key}-bound", problem, "toulbar2", seconds))
            cells = [value / problem.facts.num_constraints for value in (ours["bound"], peer["bound"], ours["cost"])]
            print(f"| {family} {variables} | " + " | ".join(f"{cell:.3f}" for cell in cells) + " |", flush=True)


def narrow(runs: Runs, options: argparse.Namespace) -> None:
    """A million variables in a tree, and ten thousand components."""
    table(["problem", "status", "s", "peak memory so far, GB"])
    count, size, domain = 10_000, 6, 4
    pairs = np.array([(a, b) for a in range(size) for b in range(a + 1, size)])
    scopes = (np.arange(count)[:, None, None] * size + pairs).reshape(-1, 2)
    costs = np.random.default_rng(0).integers(0, 100, len(scopes) * domain**2)
    ends = np.arange(len(scopes) + 1)
    cliques = Problem(np.full(count * size, domain), scopes.ravel(), 2 * ends, costs, domain**2 * ends)
    for name, problem in (("10,000 cliques of six", cliques), ("tree of 1,000,000", random_tree(1_000_000, 3))):
        row = runs.alone(Run(f"{name}-x{options.scale:g}", problem, "auto", 60.0 * options.scale, threads=2))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
        print(f"| {name} | {row['status']} | {row['runtime']:.1f} | {peak:.2f} |", flush=True)


PARTS = {
    "families": families,
    "large": large,
    "instances": instances,
    "bounds": bounds,
    "narrow": narrow,
    "vision": vision,
    "grids": grids,
    "between": between,
    "max-cut": max_cut,
    "kinds": kinds,
    "structured": structured,
    "forbidding": forbidding,
}


def main() -> None:
    """Run the parts asked for."""
    if sys.argv[1:2] == ["ablation"]:
        auto_ablation.main(sys.argv[2:])
        return
    if sys.argv[1:2] == ["fit"]:
        auto_weights.main(sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", default=list(PARTS)[:5], help=", ".join(PARTS))
    parser.add_argument("--scale", type=float, default=1.0, help="all times are multiplied by this")
    parser.add_argument("--instances", type=int, default=5, help="instances of each configuration")
    parser.add_argument("--first", type=int, default=FIRST_INSTANCE, help="seed of the first instance")
    parser.add_argument("--seeds", type=int, default=3, help="seeds of auto on each")
    parser.add_argument("--sizes", type=int, nargs="*", default=[60, 80, 100], help="numbers of variables")
    parser.add_argument("--peers", help="solvers beside auto, separated by commas; all by default")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[2] / "shared" / "instances")
    parser.add_argument("--seconds", type=float, nargs="*", help="limits, instead of those that a part has")
    parser.add_argument("--only", nargs="*", help="names of the problems of a part to run; all by default")
    parser.add_argument("--threads", type=int, nargs="*", default=[2, 1], help="threads of auto where a part has both")
    parser.add_argument("--beside", type=int, default=5, help="kinds: members run on every so many-th problem")
    parser.add_argument("--json", type=Path, help="keep runs here and continue from it")
    options = parser.parse_args()
    runs = Runs(options.json)
    for part in options.parts:
        print(f"\n## {part}\n")
        PARTS[part](runs, options)


if __name__ == "__main__":
    main()
