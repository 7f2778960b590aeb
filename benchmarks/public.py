"""Public races on files that are on disk: ``python -m benchmarks.public SUITE FOLDER``.

Every problem file of FOLDER is solved by each of ``--solvers`` from the command line, in a process of its own, reading
included. SUITE says what the files are and what they are compared with:

- ``uai``: MPE instances of the UAI competitions (``.uai`` with ``.evid`` beside). ``--best`` is a page of scores of the
  UAI 2022 competition; best and trivial values are solved from its scores and values, and scores are computed by its
  rule, 100 (v − trivial) / (best − trivial) with v in log10, capped at 100. Its entrants get a column each.
- ``qap``: quadratic assignments (``.qap``, whose first line holds the best known cost, or ``.dat``).
- ``maxcut``: graphs and quadratic programs; ``--best`` is a table of lines "name value", by default the file
  ``optimal_energy.txt`` of the folder.
- ``colouring``: weighted colourings, with such a table.
- ``files``: any problem files, with the optimum in a ``.ub`` file beside each or in such a table.

``--json FILE`` keeps every run with commit, machine and date, and continues where it was interrupted. README's table of
races is made of ``benchmarks/recorded/public_uai.jsonl``, ``public_maxcut.jsonl`` and ``public_qap.jsonl``.
``--picture FILE`` draws the score or excess of each instance, sorted.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import math
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.auto_runs import table
from dabp.formats import FORMATS

PACKED = ("", ".gz", ".bz2", ".xz")
SUFFIXES = {
    "uai": (".uai",),
    "qap": (".qap", ".dat"),
    "maxcut": (".txt", ".mc", ".rud", ".rudy", ".bq", ".sparse", ".mtx"),
    "colouring": (".wcsp", ".cfn", ".col", ".wvcp"),
    "files": tuple(dict.fromkeys(suffix for line in FORMATS.values() for suffix in line.suffixes)),
}
"""Suffixes of problem files by suite."""

TOLERANCE = 1e-6
"""Relative difference below which a cost equals the best known one."""

PUBLISHED = 0.05
"""Published values of the UAI competition are rounded by at most this, in log10."""

ROUGH = 100
"""Roundings of published values below which the span from trivial to best is too short for a score."""


@dataclass
class Instance:
    """A problem file, and what is known about it in the unit in which its suite counts."""

    name: str
    path: Path
    best: float | None = None
    """The best known value: log10 of the probability (uai), cost, or weight of the cut."""
    trivial: float | None = None
    """The value that scores 0."""
    entrants: dict[str, float] = field(default_factory=dict)
    """Values of the competition's entrants."""


def score_lines(page: Path, seconds: float) -> dict[str, dict[str, tuple[float, float]]]:
    """Of a page of scores: by instance and entrant the score and the value, for one time limit; first occurrence."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    names: list[str] = []
    limit = ""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("#"):
            limit = line.strip("# ").strip()
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if line.startswith("|") and cells[0] == "Problem":
            names = cells[1:]
        elif line.startswith("|") and limit == f"{seconds:g}sec" and cells[0] not in found:
            pairs = {}
            for name, cell in zip(names, cells[1:], strict=False):
                if (match := re.fullmatch(r"(-?[\d.]+) \((-?[\d.]+|-?inf)\)", cell)) is not None:
                    pairs[name] = (float(match[1]), float(match[2]))
            if pairs:
                found[cells[0]] = pairs
    return found


def best_and_trivial(pairs: Iterable[tuple[float, float]]) -> tuple[float, float] | None:
    """The values that score 100 and 0, from scores and values of entrants, both rounded to one decimal."""
    points = np.array([pair for pair in pairs if math.isfinite(pair[1])])
    if len(points) == 0:
        return None
    full = points[points[:, 0] == 100.0]
    low = points[np.argmin(points[:, 0])]
    if len(full):
        best = float(full[:, 1].max())
        part = low[0] / 100
        return (best, float((low[1] - part * best) / (1 - part))) if low[0] < 100 else (best, -math.inf)
    high = points[np.argmax(points[:, 0])]
    if high[0] == low[0]:
        return None
    slope = (high[1] - low[1]) / (high[0] - low[0])
    return float(high[1] + slope * (100 - high[0])), float(high[1] - slope * high[0])


def instances(suite: str, folder: Path, best: Path | None, seconds: float) -> Iterator[Instance]:
    """The problem files of a folder, sorted by name, with what is known about them."""
    if best is None and (folder / "optimal_energy.txt").exists():
        best = folder / "optimal_energy.txt"
    scores = score_lines(best, seconds) if best is not None and suite == "uai" else {}
    values = _values(best) if best is not None and suite != "uai" else {}
    endings = [suffix + packed for suffix in SUFFIXES[suite] for packed in PACKED]
    seen = set()
    for path in sorted(folder.iterdir()):
        ending = next((end for end in endings if path.name.endswith(end)), None)
        name = path.name.removesuffix(ending or "")
        if ending is None or name in seen or path == best:
            continue
        seen.add(name)
        instance = Instance(name, path, values.get(name))
        if suite == "qap" and (known := path.with_name(f"{name}.qap")).exists():
            instance.best = float(known.read_text(encoding="ascii").split(maxsplit=3)[2])
        if suite == "files" and (proved := path.with_name(f"{name}.ub")).exists():
            instance.best = float(proved.read_text(encoding="ascii").split()[0])
        if pairs := scores.get(name):
            if (line := best_and_trivial(pairs.values())) is not None:
                instance.best, instance.trivial = line
            instance.entrants = {entrant: value for entrant, (_, value) in pairs.items()}
        yield instance


def _values(page: Path) -> dict[str, float]:
    """A table of lines "name value"; lines whose second word is no number are left out."""
    found = {}
    for line in page.read_text(encoding="utf-8").splitlines():
        words = line.replace(",", " ").split()
        if len(words) >= 2 and re.fullmatch(r"-?\d+(\.\d+)?", words[1]):
            found[words[0].removesuffix(".txt")] = abs(float(words[1]))
    return found


def run(instance: Instance, suite: str, solver: str, seconds: float, threads: int, seed: int) -> dict[str, Any]:
    """One solve by the command line."""
    with tempfile.TemporaryDirectory() as place:
        path = plain(instance.path, Path(place)) if suite == "maxcut" else instance.path
        return _solved(path, instance, suite, solver, seconds=seconds, threads=threads, seed=seed)


def plain(path: Path, place: Path) -> Path:
    """A graph of openising, whose first line ends in a letter, as a file of rudy's; any other file as it is."""
    if path.suffix != ".txt":
        return path
    first, _, rest = path.read_text(encoding="ascii").partition("\n")
    if not re.fullmatch(r"\d+\s+\d+\s+[A-Z]\s*", first):
        return path
    copy = place / f"{path.stem}.mc"
    copy.write_text(f"{first.split()[0]} {first.split()[1]}\n{rest}", encoding="ascii")
    return copy


def _solved(
    path: Path, instance: Instance, suite: str, solver: str, *, seconds: float, threads: int, seed: int
) -> dict[str, Any]:
    words = [sys.executable, "-m", "dabp", "solve", str(path), "-s", solver, "--time", f"{seconds:g}"]
    words += ["--threads", str(threads), "--seed", str(seed), "--json", "--quiet"]
    evidence = instance.path.with_name(instance.path.name + ".evid")
    if suite == "uai" and evidence.exists() and evidence.read_text(encoding="ascii").split()[:1] not in ([], ["0"]):
        words += ["--evidence", str(evidence)]
    if suite == "qap":
        words += ["--format", "qaplib"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    row = {"suite": suite, "instance": instance.name, "solver": solver, "seconds": seconds, "threads": threads}
    if not done.stdout.strip():
        return {**row, "seed": seed, "error": done.stderr.strip()[-300:]}
    answer = json.loads(done.stdout.strip().splitlines()[-1] if done.stdout.count("{") == 1 else done.stdout)
    return {**row, "seed": seed, **{key: answer.get(key) for key in ("cost", "bound", "status", "runtime")}}


def value(suite: str, row: dict[str, Any]) -> float | None:
    """What a run reached, in the unit of its suite."""
    cost = row.get("cost")
    return None if cost is None else -cost / math.log(10) if suite == "uai" else float(cost)


def score(instance: Instance, found: float | None) -> float | None:
    """By the competition's rule."""
    if instance.best is None or instance.trivial is None:
        return None
    if instance.best - (instance.trivial or 0.0) < ROUGH * PUBLISHED:
        return None  # its rounding alone is worth more than a point
    if found is None:
        return 0.0
    if found >= instance.best - PUBLISHED or not math.isfinite(instance.trivial):
        return 100.0
    return max(0.0, 100 * (found - instance.trivial) / (instance.best - instance.trivial))


def excess(suite: str, instance: Instance, found: float | None) -> float | None:
    """How far a value is from the best known one on its worse side, in per cent of this; negative if better."""
    if instance.best is None:
        return None
    if found is None:
        return math.inf
    short = instance.best - found if suite in ("uai", "maxcut") else found - instance.best
    if suite == "uai" and abs(short) <= PUBLISHED:
        return 0.0
    return 100 * short / max(abs(instance.best), 1e-9)


def show(suite: str, known: dict[str, Instance], rows: list[dict[str, Any]]) -> None:
    """A table of all instances, and a summary by solver."""
    by = {(row["instance"], row["solver"]): row for row in rows}
    solvers = list(dict.fromkeys(row["solver"] for row in rows))
    table(["instance", "best known", *(f"{solver} | off, % | bound | status | s" for solver in solvers)])
    for name, instance in known.items():
        cells = []
        for solver in solvers:
            row = by.get((name, solver), {})
            found = value(suite, row)
            off = score(instance, found) if suite == "uai" else excess(suite, instance, found)
            shown = ["–" if one is None else f"{one:.6g}" for one in (found, off, row.get("bound"))]
            cells.append(" | ".join([*shown, row.get("status") or "–", f"{row.get('runtime') or 0:.1f}"]))
        print(f"| {name} | {'–' if instance.best is None else f'{instance.best:g}'} | {' | '.join(cells)} |")
    print()
    for solver in solvers:
        done = [(known[name], by[name, solver]) for name in known if (name, solver) in by]
        _summary(suite, solver, done)
    if suite == "uai":
        _entrants([instance for name, instance in known.items() if any((name, solver) in by for solver in solvers)])


def _summary(suite: str, solver: str, done: list[tuple[Instance, dict[str, Any]]]) -> None:
    proved = sum(row.get("status") == "OPTIMAL" for _, row in done)
    offs = [excess(suite, instance, value(suite, row)) for instance, row in done]
    counted = [off for off in offs if off is not None]
    slack = 100 * TOLERANCE
    reached = sum(off <= slack for off in counted)
    better = sum(off < -slack for off in counted)
    line = f"{solver}: {len(done)} instances, {proved} proved; at the best known on {reached} of {len(counted)}"
    line += f", better on {better}"
    if suite == "uai":
        scores = [one for instance, row in done if (one := score(instance, value(suite, row))) is not None]
        if scores:
            line += f"; score {np.mean(scores):.3f} over {len(scores)} (lowest {min(scores):.2f})"
    elif counted:
        line += f"; mean excess {np.mean([min(off, 100.0) for off in counted]):.4f} %"
    print(line)


def _entrants(done: list[Instance]) -> None:
    names = sorted({name for instance in done for name in instance.entrants})
    for name in names:
        scores = [one for instance in done if (one := score(instance, instance.entrants.get(name))) is not None]
        print(f"{name} (published): score {np.mean(scores):.2f} over {len(scores)}")


def draw(suite: str, known: dict[str, Instance], rows: list[dict[str, Any]], picture: Path) -> None:
    """Scores (uai) or excess of the instances, sorted, one curve for each solver."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 4), layout="constrained")
    for solver in dict.fromkeys(row["solver"] for row in rows):
        found = [(known[row["instance"]], value(suite, row)) for row in rows if row["solver"] == solver]
        measure = [score(*one) if suite == "uai" else excess(suite, *one) for one in found]
        axes.plot(sorted(one for one in measure if one is not None), label=solver)
    axes.set_xlabel("instances, sorted")
    axes.set_ylabel("score" if suite == "uai" else "above the best known, %")
    figure.legend(loc="outside right upper")
    figure.savefig(picture, dpi=150)


def _judged(suite: str, instance: Instance, row: dict[str, Any]) -> dict[str, Any]:
    """The best known value, how far the answer is off (or its score), and the published entrants' scores."""
    found = value(suite, row)
    off = score(instance, found) if suite == "uai" else excess(suite, instance, found)
    scores = {name: score(instance, theirs) for name, theirs in instance.entrants.items()}
    entrants = {name: one for name, one in scores.items() if one is not None}
    return {"best": instance.best, "off": None if off is None else min(off, 100.0), "entrants": entrants}


def _origin() -> dict[str, Any]:
    commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    machine = platform.processor() or platform.machine()
    return {"commit": commit.stdout.strip(), "date": dt.date.today().isoformat(), "machine": machine}


def main() -> None:
    """Run what is not recorded yet, then print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("suite", choices=list(SUFFIXES))
    parser.add_argument("folder", type=Path)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--solvers", nargs="*", default=["auto"])
    parser.add_argument("--best", type=Path, help="table or page of the best known values")
    parser.add_argument("--only", default="", help="instances whose names match this regular expression")
    parser.add_argument("--json", type=Path, help="keeps every run; what is there is not run again")
    parser.add_argument("--picture", type=Path)
    options = parser.parse_args()
    pattern = re.compile(options.only)
    known = {
        instance.name: instance
        for instance in instances(options.suite, options.folder, options.best, options.seconds)
        if pattern.search(instance.name)
    }
    rows = []
    if options.json and options.json.exists():
        rows = [json.loads(line) for line in options.json.read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if row["instance"] in known and row["seconds"] == options.seconds]
    done = {(row["instance"], row["solver"]) for row in rows}
    for name, instance in known.items():
        for solver in options.solvers:
            if (name, solver) in done:
                continue
            found = run(instance, options.suite, solver, options.seconds, options.threads, options.seed)
            rows.append({**found, **_judged(options.suite, instance, found), **_origin()})
            print(name, solver, found.get("cost"), found.get("status"), file=sys.stderr, flush=True)
            if options.json:
                with options.json.open("a", encoding="utf-8") as stream:
                    stream.write(json.dumps(rows[-1]) + "\n")
    show(options.suite, known, rows)
    if options.picture:
        draw(options.suite, known, rows, options.picture)


if __name__ == "__main__":
    main()
