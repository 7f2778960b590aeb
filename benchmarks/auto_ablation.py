"""What each member and each special rule of `auto` is worth: ``python -m benchmarks.auto ablation``.

Every problem of the suite is solved with everything, and again with one member or rule left out, for each time limit.
A part that does not take part in a problem is not run on it: it could change nothing. Runs of one problem follow one
another, so that a busy machine is busy for all of them.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import random
from collections import defaultdict
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from functools import partial
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import dabp
from benchmarks.auto_members import _gset, _sparse_cut, _torus, in_between
from benchmarks.auto_runs import table
from benchmarks.forbidding_problems import FORBIDDING
from benchmarks.large_problems import KINDS
from benchmarks.random_kinds import random_kind
from benchmarks.structured_problems import STRUCTURED
from benchmarks.vision_problems import vision_problems
from dabp.problem import Problem
from dabp.problem.grid import grid
from dabp.solvers.auto import line_up, solver, timed_search
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.incumbent import Incumbent

FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")
NOISE = 1e-4
"""Relative difference of two costs below which they count as equal."""

MOST = 0.1
"""A larger relative difference counts as this in the mean: single answers that are missing would hide the rest."""


def suite(folder: Path) -> dict[str, Callable[[], Problem]]:
    """Problems by name; a name begins with the kind."""
    made: dict[str, Callable[[], Problem]] = {}
    for family in FAMILIES:
        for size in (60, 100):
            made[f"{family} {size}"] = partial(dabp.generate, family, variables=size, seed=41_001)
        for size in (200, 400, 1000):
            made[f"{family} {size}"] = partial(in_between, family, size, 41_001)
    for name, make in KINDS.items():
        made[f"large {name}"] = partial(make, 41_001)
    for side in (30, 100):
        made[f"ising {side}"] = partial(dabp.generate, "ising", row_count=side, col_count=side, seed=41_001)
    for kind, labels, side in (("potts", 16, 60), ("truncated-linear", 16, 60), ("potts", 4, 120)):
        made[f"image {kind} {labels} {side}"] = partial(_image, kind, labels, side)
    if folder.is_dir():
        for name in ("potts-200", "truncated-384", "potts-384-60", "segmentation-256", "montage-150"):
            made[f"vision {name}"] = partial(_vision, folder, name)
        for name in ("404.wcsp.xz", "GEOM40_6.wcsp.xz", "GeomSurf-7-gm256.uai.xz", "celar6sub0.wcsp.xz"):
            made[f"file {name}"] = partial(dabp.read, folder / name)
        made["cut G1"] = lambda: _gset(folder / "G1.txt.xz")
        made["cut G11"] = lambda: _gset(folder / "G11.txt.xz")
    for number in range(2):
        made[f"cut torus {number}"] = partial(_cut, _torus, number, 30)
        made[f"cut random {number}"] = partial(_cut, _sparse_cut, number, 400, 0.06)
    for size in (12, 20, 30):
        made[f"permutation {size}"] = partial(_assignment, size)
    for name, structured in STRUCTURED.items():
        made[f"structured {name}"] = partial(structured, 41_001)
    for name, forbidding in FORBIDDING.items():
        made[f"forbidding {name}"] = partial(forbidding, 41_001)
    for number in range(10):
        made[f"random {number}"] = partial(random_kind, 41_001 + number)
    return made


def _vision(folder: Path, name: str) -> Problem:
    return vision_problems(folder, 12)[name]


def _image(kind: str, labels: int, side: int) -> Problem:
    rng = np.random.default_rng(41_001)
    smooth = rng.integers(0, labels, (6, 6)).repeat(side // 6, 0).repeat(side // 6, 1)
    distance = np.abs(smooth[..., None] - np.arange(labels))
    unary = 20.0 * np.minimum(distance, 4) + rng.integers(0, 60, distance.shape)
    return grid(unary, kind, weights=12.0, **({"cap": 3} if kind == "truncated-linear" else {}))


def _cut(make: Callable[..., Problem], number: int, *sizes: Any) -> Problem:
    return make(np.random.default_rng([41_001, number]), *sizes)


def _assignment(size: int) -> Problem:
    """A quadratic assignment: variables are facilities, values places, none of which is taken twice."""
    rng = np.random.default_rng([41_001, size])
    points = rng.random((size, 2))
    distance = np.rint(100 * np.linalg.norm(points[:, None] - points, axis=-1))
    flow = np.triu(rng.integers(0, 10, (size, size)), 1)
    tables = []
    for i, j in zip(*np.triu_indices(size, 1), strict=True):
        costs = flow[i, j] * distance
        np.fill_diagonal(costs, np.inf)
        tables.append(((int(i), int(j)), costs))
    return Problem.from_tables([size] * size, tables)


def _never(*_: Any, **__: Any) -> bool:
    return False


RULES: dict[str, Callable[[], Any]] = {
    "one run of BP has all threads": lambda: mock.patch.object(line_up, "few_iterations", _never),
    "answers crossed by islands": lambda: mock.patch.object(Incumbent, "_crossed", lambda self, a, cost: (a, cost)),
    "toulbar2": lambda: mock.patch.object(timed_search, "worth_proving", _never),
    "mbe": lambda: mock.patch.object(solver, "_elimination", return_value=[]),
}
"""Special rules by name, and how each is left out."""


@contextlib.contextmanager
def without(part: str | None) -> Iterator[None]:
    """Leave out a member or a rule."""
    if part is None:
        yield
    elif part in RULES:
        with RULES[part]():
            yield
    else:
        others = tuple(member for member in line_up.MEMBERS if member.solver != part)
        with mock.patch.object(line_up, "MEMBERS", others):
            yield


def parts_of(problem: Problem, seconds: float, threads: int) -> list[str]:
    """The members in the line-up, and all rules."""
    line = line_up.line_up(features_of(problem), seconds, threads=threads)
    return [*dict.fromkeys(place.member.solver for place in line.places), *RULES]


def runs_of(name: str, folder: Path, seconds: float, threads: int, only: list[str]) -> list[dict[str, Any]]:
    """All runs of one problem, in a process of its own."""
    problem = suite(folder)[name]()
    rows = []
    chosen: list[str | None] = [part for part in parts_of(problem, seconds, threads) if not only or part in only]
    random.Random(name).shuffle(chosen)
    dabp.solve(problem, time_limit=min(seconds, 1.0), threads=threads)
    for seed, part in enumerate([None, *chosen, None]):
        with without(part):
            result = dabp.solve(problem, time_limit=seconds, threads=threads, seed=0 if part else seed)
        cost = result.cost if result.cost is None or not problem.maximize else -result.cost
        rows.append({"problem": name, "part": part, "seconds": seconds, "cost": cost, "status": result.status.name})
    return rows


COLUMNS = ("left out", "runs", "worse", "better", "mean excess, %", "most")


def ablation(rows: list[dict[str, Any]]) -> list[list[str]]:
    """Rows of the table: by part, how much worse the answers are without it, in per cent, and in how many runs.

    A run counts as worse if its cost is above both runs with everything, as better if it is below both.
    """
    base: dict[tuple[str, float], list[float]] = defaultdict(list)
    for row in rows:
        if row["part"] is None:
            base[row["problem"], row["seconds"]].append(np.inf if row["cost"] is None else row["cost"])
    parts: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for row in rows:
        if row["part"] is not None:
            known = base[row["problem"], row["seconds"]]
            cost = np.inf if row["cost"] is None else row["cost"]
            scale = max(abs(known[0]), 1e-9) if np.isfinite(known[0]) else 1.0
            low, high = min(known), max(known)
            excess = max(0.0, (cost - high) / scale) if cost > high else min(0.0, (cost - low) / scale)
            parts[row["part"]].append(
                (row["problem"], row["seconds"], excess if np.isfinite(excess) else np.sign(cost))
            )
    lines = []
    means = {part: np.clip([e for _, _, e in found], -MOST, MOST).mean() for part, found in parts.items()}
    for part, found in sorted(parts.items(), key=lambda item: -means[item[0]]):
        values = np.array([excess for _, _, excess in found])
        worst = sorted(found, key=lambda row: -row[2])[:3]
        most = ", ".join(
            f"{name} {seconds:g} s {100 * excess:+.2f}" for name, seconds, excess in worst if excess > NOISE
        )
        counts = [len(values), (values > NOISE).sum(), (values < -NOISE).sum()]
        lines.append([part, *map(str, counts), f"{100 * means[part]:.3f}", most])
    return lines


def main(words: list[str] | None = None) -> None:
    """Run what is not recorded yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[2] / "shared" / "instances")
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0, 4.0])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", default=[], help="parts to leave out, by name")
    parser.add_argument("--json", type=Path, required=True)
    options = parser.parse_args(words)
    rows = [json.loads(line) for line in options.json.read_text().splitlines()] if options.json.exists() else []
    done = {(row["problem"], row["seconds"]) for row in rows}
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn"), max_tasks_per_child=1) as pool:
        waiting = [
            pool.submit(runs_of, name, options.folder, seconds, options.threads, options.only)
            for seconds in options.seconds
            for name in suite(options.folder)
            if (name, seconds) not in done
        ]
        for future in as_completed(waiting):
            try:
                found = future.result()
            except Exception as error:
                print(f"failed: {error!r}", flush=True)
                continue
            rows += found
            with options.json.open("a") as stream:
                stream.writelines(json.dumps(row) + "\n" for row in found)
    table(COLUMNS)
    for line in ablation(rows):
        print(f"| {' | '.join(line)} |")


if __name__ == "__main__":
    main()
