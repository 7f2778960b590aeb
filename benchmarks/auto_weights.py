"""Weights of `auto`'s members, fitted from recorded runs of each member alone: ``python -m benchmarks.auto fit FILE``.

``--record`` first runs each member alone on every problem of the suite of the ablation on which it would take part, and
keeps each run as a line of FILE; what is there is not run again. The weight of a member on a kind of problem is

    present · (best + SMOOTHING) / (problems + SMOOTHING · members),

where `problems` are those of the kind on which the members' costs differ, each with each time limit, and `best` counts
those on which the member's cost is the least or within `NOISE` of it, shared between equal members. `present` is what
the weights of these members add up to now, so that members without runs keep theirs. ``--write`` puts the weights into
the package, with their provenance by kind.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.auto_ablation import NOISE, suite
from benchmarks.auto_runs import Run, Runs, cost_of, table
from dabp.errors import ParameterError
from dabp.presolve import presolve
from dabp.solvers.auto import line_up
from dabp.solvers.auto.features import features_of
from dabp.solvers.auto.members import WEIGHTS

SMOOTHING = 0.2
"""Problems on which each member is taken to have been best beside those that were run."""

TABLE = Path(line_up.__file__).with_name("shares_of_time.json")
"""Where the package reads weights."""


def record(runs: Runs, folder: Path, limits: Iterable[float]) -> None:
    """Run each member alone where it would take part; a key is kind, problem, member and seconds."""
    for name, make in suite(folder).items():
        problem = make()
        features = features_of(presolve(problem).problem)
        for seconds in limits:
            for place in line_up.line_up(features, seconds, threads=1).places:
                solver = place.member.solver
                params = {"members": solver, "prove": False}
                key = "|".join((place.kind, name, solver, f"{seconds:g}"))
                with contextlib.suppress(ParameterError):  # presolve with a time limit left another kind of problem
                    runs.alone(Run(key, problem, "auto", seconds, params, warm=False))


def fitted(rows: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, float]]:
    """Weights by kind of problem and member; see the module."""
    races: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for key, row in rows.items():
        kind, problem, solver, seconds = key.split("|")
        races[kind, problem, seconds][solver] = cost_of(dict(row))
    best: dict[str, dict[str, float]] = defaultdict(lambda: defaultdict(float))
    for (kind, _, _), costs in races.items():
        least = min(costs.values())
        near = [solver for solver, cost in costs.items() if cost <= least + NOISE * abs(least)]
        for solver in costs:
            best[kind][solver] += float(solver in near and np.isfinite(least) and len(near) < len(costs)) / len(near)
    weights = {}
    for kind, counts in best.items():
        present = sum(WEIGHTS[solver].get(kind, 0.0) for solver in counts)
        unit = present / (sum(counts.values()) + SMOOTHING * len(counts))
        weights[kind] = {solver: round(unit * (count + SMOOTHING), 2) for solver, count in counts.items()}
    return weights


def as_text(known: Mapping[str, Mapping[str, Any]]) -> str:
    """JSON with a line for each kind and each member."""
    lines = {
        part: ",\n".join(f"    {json.dumps(key)}: {json.dumps(value)}" for key, value in entries.items())
        for part, entries in known.items()
    }
    return "{\n" + ",\n".join(f'  "{part}": {{\n{text}\n  }}' for part, text in lines.items()) + "\n}\n"


def main(words: list[str]) -> None:
    """Record if asked, fit, print the table, and write it if asked."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recorded", type=Path, help="runs, a line of JSON each")
    parser.add_argument("--record", action="store_true", help="do the runs that are missing")
    parser.add_argument("--seconds", type=float, nargs="*", default=[1.0], help="time limits of runs")
    parser.add_argument("--folder", type=Path, default=Path(__file__).parents[2] / "shared" / "instances")
    parser.add_argument("--write", action="store_true", help=f"write {TABLE.name} of the package")
    options = parser.parse_args(words)
    runs = Runs(options.recorded)
    if options.record:
        record(runs, options.folder, options.seconds)
    weights = fitted(runs.rows)
    table(["member", *(f"{kind}: fitted (present)" for kind in weights)])
    for solver, present in WEIGHTS.items():
        cells = (f"{of.get(solver, '–')} ({present.get(kind, '–')})" for kind, of in weights.items())
        print(f"| {solver} | {' | '.join(cells)} |")
    if options.write:
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=True)
        known = json.loads(TABLE.read_text(encoding="utf-8"))
        how = f"python -m benchmarks.auto fit {options.recorded}, commit {commit.stdout.strip()}, {date.today()}"
        for kind, found in weights.items():
            known["provenance"][kind] = how
            for solver, weight in found.items():
                known["weights"][solver][kind] = weight
        TABLE.write_text(as_text(known), encoding="utf-8")
