"""`auto` beside its members alone: the sizes in between, max-cut, and random problems of all kinds."""

from __future__ import annotations

import argparse
import lzma
from pathlib import Path
from typing import Any

import numpy as np

import dabp
from benchmarks.auto_runs import Run, Runs, cost_of, table
from benchmarks.random_kinds import random_kind
from dabp.problem import Problem
from dabp.problem.columns import cheapest_values

DEGREE = 25
FIRST_BETWEEN = 31_001
"""Seed of the first instance of the sizes in between."""

MEMBERS: dict[str, tuple[str, dict[str, Any]]] = {
    "bp-reinforced": ("bp-reinforced", {}),
    "bp-learned": ("bp-learned", {}),
    "tabu": ("tabu", {}),
    "annealing": ("annealing", {}),
    "dbp-scfg": ("dbp-scfg", {"damping": 0.5, "jitter": 0.4, "restarts": 1_000_000}),
    "neighbourhood": ("neighbourhood", {}),
}


def in_between(family: str, variables: int, seed: int) -> Problem:
    """One of the paper's families with about `DEGREE` neighbours a variable."""
    density = {"density": DEGREE / (variables - 1)}
    sizes: dict[str, dict[str, Any]] = {
        "random-cop": density,
        "graph-coloring": density,
        "scale-free": {"m0": DEGREE // 2 + 1, "m1": DEGREE // 2 + 1},
        "small-world": {"k": 20, "p": 0.25},
    }
    return dabp.generate(family, variables=variables, seed=seed, **sizes[family])


def _of(member: tuple[str, dict[str, Any]], seconds: float) -> tuple[str, float, dict[str, Any]]:
    """What a run needs of a member: solver, seconds, parameters."""
    return member[0], seconds, member[1]


def between(runs: Runs, options: argparse.Namespace) -> None:
    """How far `auto` is above the best of its members alone, in per cent; negative where it is below.

    The members have one thread each and run two at a time; `--peers` takes fewer of them.
    """
    members = {name: MEMBERS[name] for name in (options.peers.split(",") if options.peers else MEMBERS)}
    seconds = (options.seconds or [10.0])[0]
    sizes = options.sizes if options.sizes != [60, 80, 100] else [200, 300, 500]
    table(["problem", "best member", *(f"auto, {t} threads, above it, %" for t in options.threads)])
    above: dict[int, list[float]] = {threads: [] for threads in options.threads}
    for number in range(options.instances):
        for variables in sizes:
            for family in options.only or ("random-cop", "graph-coloring", "scale-free", "small-world"):
                seed = FIRST_BETWEEN + number
                problem = in_between(family, variables, seed)
                key = f"between-{family}-{variables}-{seed}-{seconds:g}s"
                rows = runs.together(
                    [Run(f"{key}-{name}", problem, *_of(member, seconds)) for name, member in members.items()]
                )
                alone = dict(zip(members, map(cost_of, rows), strict=True))
                best = min(alone, key=lambda name: alone[name])
                cells = []
                for threads in options.threads:
                    row = runs.alone(Run(f"{key}-auto-{threads}", problem, "auto", seconds, threads=threads))
                    above[threads].append(100.0 * (cost_of(row) / alone[best] - 1.0))
                    cells.append(f"{above[threads][-1]:.3f}")
                print(f"| {family} {variables} {seed} | {best} {alone[best]:.0f} | {' | '.join(cells)} |", flush=True)
    for threads, values in above.items():
        share = np.mean(np.array(values) <= 1e-9)
        print(f"\n{threads} threads: mean {np.mean(values):.3f} %, at or below the best member on {share:.0%}")


def max_cut(runs: Runs, options: argparse.Namespace) -> None:
    """Cuts found, larger is better: Gset files of the folder, and fresh graphs of the same kinds."""
    limits = options.seconds or [5.0, 20.0]
    problems = {path.name.split(".")[0]: _gset(path) for path in sorted(options.folder.glob("G[0-9]*.txt.xz"))}
    for number in range(options.instances):
        rng = np.random.default_rng([options.first, number])
        problems[f"torus-{number}"] = _torus(rng, 30)
        problems[f"random-{number}"] = _sparse_cut(rng, 800, 0.06)
    table(["graph", "s", *(f"auto, {t} threads" for t in options.threads), "annealing", "tabu"])
    for name, problem in problems.items():
        if options.only and name not in options.only:
            continue
        for seconds in limits:
            key = f"cut-{name}-{seconds:g}s"
            rows = [
                runs.alone(Run(f"{key}-auto-{threads}", problem, "auto", seconds, threads=threads))
                for threads in options.threads
            ]
            rows += [runs.alone(Run(f"{key}-{solver}", problem, solver, seconds)) for solver in ("annealing", "tabu")]
            cells = " | ".join(f"{float(row['cost']):.0f}" for row in rows)
            print(f"| {name} | {seconds:g} | {cells} |", flush=True)


def cut_problem(count: int, edges: np.ndarray, weights: np.ndarray) -> Problem:
    """Maximise the weight of the edges whose ends differ."""
    values, index = np.unique(weights, return_inverse=True)
    tables = values[:, None, None] * (1.0 - np.eye(2))
    ends = np.arange(len(edges) + 1)
    offsets = 4 * np.arange(len(values) + 1)
    return Problem(np.full(count, 2), edges.ravel(), 2 * ends, tables.ravel(), offsets, index, maximize=True)


def _gset(path: Path) -> Problem:
    rows = np.array(lzma.decompress(path.read_bytes()).split(), dtype=np.int64)
    triples = rows[2:].reshape(-1, 3)
    return cut_problem(int(rows[0]), triples[:, :2] - 1, triples[:, 2].astype(float))


def _torus(rng: np.random.Generator, side: int) -> Problem:
    number = np.arange(side * side).reshape(side, side)
    edges = np.concatenate([np.stack([number, np.roll(number, 1, axis)], -1).reshape(-1, 2) for axis in (0, 1)])
    return cut_problem(side * side, edges, rng.choice([-1.0, 1.0], len(edges)))


def _sparse_cut(rng: np.random.Generator, count: int, density: float) -> Problem:
    first, second = np.triu_indices(count, 1)
    kept = rng.random(len(first)) < density
    return cut_problem(count, np.stack([first[kept], second[kept]], axis=1), np.ones(int(kept.sum())))


def kinds(runs: Runs, options: argparse.Namespace) -> None:
    """Random problems of all kinds: how often `auto` is the first guess though a member is better, and its overruns.

    Where `auto` is better than the first guess no member can show otherwise: they run on every `--beside`-th problem,
    to see how far it is above the best of them, and wherever it is not.
    """
    limits = options.seconds or [0.5, 3.0]
    table(["problem", "s", "first guess", "auto", "best member", "late, s"])
    guesses = late_ones = 0
    for number in range(options.instances):
        problem = random_kind(options.first + number)
        guess = float(problem.cost(cheapest_values(problem)))
        for seconds in limits:
            key = f"kind-{options.first + number}-{seconds:g}s"
            row = runs.alone(Run(f"{key}-auto", problem, "auto", seconds, warm=seconds == limits[0]))
            best, cell = np.inf, "–"
            if cost_of(row) >= guess or number % options.beside == 0:
                alone = {
                    name: cost_of(runs.alone(Run(f"{key}-{name}", problem, solver, seconds, params)))
                    for name, (solver, params) in MEMBERS.items()
                }
                name = min(alone, key=lambda name: alone[name])
                best, cell = alone[name], f"{name} {alone[name]:.6g}"
            late = row["wall"] - seconds
            guesses += cost_of(row) >= guess and best < guess
            late_ones += late > (0.3 if problem.num_variables <= 100_000 else max(2.0, 0.05 * seconds))
            costs = f"{guess:.6g} | {cost_of(row):.6g} | {cell}"
            print(f"| {problem.name} | {seconds:g} | {costs} | {late:.2f} |", flush=True)
    print(f"\n{guesses} first guesses where a member was better, {late_ones} overruns")
