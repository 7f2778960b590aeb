"""Tables of pages whose runs are kept: each function makes one from a file of ``benchmarks/recorded``."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.markdown import markdown

RECORDED = Path(__file__).parent / "recorded"
Row = dict[str, Any]

FAMILIES = ("random-cop", "graph-coloring", "scale-free", "small-world")
ALONE = ("annealing", "tabu", "bp restarts", "dabp", "toulbar2", "toulbar2-vns", "toulbar2-pils", "incop")
"""What `auto` is compared with on the paper's families."""

MOST_EFFECTS = 10
"""Rows of the ablation table: the members and rules whose absence changes most."""

REACHED_PERCENT = 1e-4
"""A value that is off the best known one by at most this many per cent has reached it."""

EQUAL = 1e-9
"""Relative difference below which two costs are the same."""


def rows_of(name: str) -> list[Row]:
    """All lines of a recorded file, none if there is no such file."""
    path = RECORDED / f"{name}.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def by_key(name: str) -> dict[str, Row]:
    """Runs of a recorded file by key; the last with a key counts."""
    return {row["key"]: row for row in rows_of(name)}


def cost_of(row: Row) -> float:
    """The cost found, infinite for none."""
    return np.inf if row["cost"] is None else float(row["cost"])


def _grouped(name: str, pattern: str) -> dict[tuple[str, ...], dict[str, Row]]:
    """Runs by the groups of a pattern of their keys; the last group is the solver."""
    found: dict[tuple[str, ...], dict[str, Row]] = defaultdict(dict)
    for key, row in by_key(name).items():
        if match := re.fullmatch(pattern, key):
            *which, solver = match.groups()
            found[tuple(which)][solver] = row
    return found


def families() -> tuple[list[list[str]], int, int]:
    """Rows of the paper's families: gaps in per cent to the best cost; how many runs of `auto` have it, of how many."""
    found = _grouped("auto", rf"({'|'.join(FAMILIES)})-(\d+)-(\d+)-x1-(auto-\d|{'|'.join(ALONE)})")
    gaps: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    reached = runs = 0
    for (family, size, _), rows in found.items():
        ours = [cost_of(row) for solver, row in rows.items() if solver.startswith("auto")]
        costs = {"auto": float(np.mean(ours))} | {name: cost_of(rows[name]) for name in ALONE}
        best = min(*ours, *costs.values())
        reached += sum(cost <= best * (1 + EQUAL) for cost in ours)
        runs += len(ours)
        for name, cost in costs.items():
            gaps[family, size][name].append(100 * (cost - best) / best)
    lines = []
    for family in FAMILIES:
        for size in ("60", "80", "100"):
            means = [float(np.mean(gaps[family, size][name])) for name in ("auto", *ALONE)]
            cells = [*means, means[0] - min(means[1:])]
            lines.append([f"{family} {size}", *(f"{round(cell, 3) + 0.0:.3f}" for cell in cells)])
    return lines, reached, runs


def between() -> tuple[list[list[str]], list[int]]:
    """Rows of the sizes in between: instances on which `auto` is not above its best member, and the mean excess."""
    found = _grouped("auto_between", r"between-([\w-]+)-(\d+)-(\d+)-10s-(auto-\d|annealing|tabu|bp-reinforced)")
    above: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (family, size, _), rows in found.items():
        best = min(cost_of(row) for solver, row in rows.items() if not solver.startswith("auto"))
        for solver in ("auto-2", "auto-1"):
            above[family, size][solver].append(100 * (cost_of(rows[solver]) - best) / best)
    lines, level = [], [0, 0]
    for family in FAMILIES:
        for size in ("200", "300", "500"):
            line = [f"{family} {size}"]
            for which, solver in enumerate(("auto-2", "auto-1")):
                values = np.array(above[family, size][solver])
                level[which] += int((values <= EQUAL).sum())
                line += [f"{(values <= EQUAL).sum()} of {len(values)}", f"{values.mean():+.3f}"]
            lines.append(line)
    return lines, level


def beside(name: str, seconds: Iterable[str], solvers: Iterable[str]) -> list[list[str]]:
    """Costs of `auto` and others by problem and limit, with a star and seconds where the answer is proved."""
    solvers, wanted = list(solvers), list(seconds)
    kind = name.removeprefix("auto_")
    found = _grouped(name, rf"{kind}-([\w-]+)-\d+-([\d.]+)s-([\w-]+)")
    lines = []
    for (problem, limit), rows in found.items():
        if limit in wanted and all(solver in rows for solver in solvers):
            cells = [_cell(rows[solver]) for solver in solvers]
            lines.append([problem, *([limit] if len(wanted) > 1 else []), *cells])
    return sorted(lines, key=lambda line: [row[0] for row in lines].index(line[0]))


def _cell(row: Row) -> str:
    if row["cost"] is None:
        return "–"
    proved = f"*, {row['runtime']:.1f} s" if row["status"] == "OPTIMAL" else ""
    return f"{float(row['cost']):.6g}{proved}".replace("-", "−")


IMAGES = {
    "potts-200": "Potts 200×200, 16 labels",
    "truncated-384": "truncated linear 384×288, 16 labels",
    "potts-384-60": "Potts 384×288, 60 labels",
    "segmentation-256": "segmentation 256×256, 8 labels",
    "montage-150": "photomontage 150×150, 5 labels",
}


def vision() -> list[list[str]]:
    """Rows of image problems: mean gaps in per cent to the best bound that anything proved."""
    found = _grouped("auto_vision", rf"vision-({'|'.join(IMAGES)})-(\d+)-(\d+)s-(auto-2|dual|expansion|PyMaxflow)")
    bounds: dict[tuple[str, str], float] = defaultdict(lambda: -np.inf)
    for (name, seed, _), rows in found.items():
        known = [row["bound"] for row in rows.values() if row["bound"] is not None]
        bounds[name, seed] = max([bounds[name, seed], *known])
    lines = []
    for name, title in IMAGES.items():
        for limit in ("2", "5", "10"):
            runs = {seed: rows for (n, seed, s), rows in found.items() if n == name and s == limit and "auto-2" in rows}
            if not runs:
                continue
            cells = []
            for solver in ("auto-2", "dual", "expansion", "PyMaxflow"):
                gaps = [
                    100 * (cost_of(rows[solver]) - bounds[name, seed]) / abs(bounds[name, seed])
                    for seed, rows in runs.items()
                    if solver in rows
                ]
                cells.append(f"{round(float(np.mean(gaps)), 4) + 0.0:.4g}" if gaps else "–")
            proved = sum(rows["auto-2"]["status"] == "OPTIMAL" for rows in runs.values())
            lines.append([title, limit, *cells, f"{proved} of {len(runs)}"])
    return lines


def max_cut() -> list[list[str]]:
    """Rows of cuts after 5 s; larger is better."""
    found = _grouped("auto_max_cut", r"cut-([\w-]+)-5s-(auto-2|annealing|tabu)")
    return [
        [name, *(f"{abs(cost_of(rows[solver])):.6g}" for solver in ("auto-2", "annealing", "tabu"))]
        for (name,), rows in found.items()
        if len(rows) == len(("auto-2", "annealing", "tabu"))
    ]


def kinds() -> list[list[str]]:
    """Rows of random kinds: how often `auto` is the best of those compared, and how late it is at most."""
    found = _grouped("auto_kinds", r"kind-(\d+)-([\d.]+)s-([\w-]+)")
    lines = []
    for limit in ("0.5", "3"):
        runs = [rows for (_, seconds), rows in found.items() if seconds == limit and "auto" in rows]
        late = [rows["auto"]["wall"] - float(limit) for rows in runs]
        compared = [rows for rows in runs if len(rows) > 1]
        level = sum(
            cost_of(rows["auto"]) <= min(cost_of(row) for solver, row in rows.items() if solver != "auto")
            for rows in compared
        )
        lines.append([limit, str(len(runs)), f"{level} of {len(compared)}", f"{max(late):.2f}"])
    return lines


LEARNED_GROUPS: dict[str, Callable[[str], bool]] = {
    "100 variables": lambda kind: kind.endswith(" 100"),
    "300 and 1,000": lambda kind: kind.endswith((" 300", " 1000")) and kind != "scale-free 1000",
    "scale-free 1,000, regular, grids": lambda kind: (
        not kind.endswith((" 100", " 300", " 1000")) or kind == "scale-free 1000"
    ),
}


def learning() -> list[list[str]]:
    """Rows of the race of `bp-learned`: better / equal / worse than each opponent, by limit and kind."""
    from benchmarks.learning import OURS, SOLVERS, Record

    record = Record(closed=True)
    lines = []
    for seconds in (2.0, 10.0, 30.0):
        costs = {name: record.of(seconds, name) for name in SOLVERS}
        mine = costs.pop(OURS)
        statics = [name for name in costs if name.startswith("static")]
        common = [key for key in mine if all(key in costs[name] for name in statics)]
        costs["best static"] = {key: min(costs[name][key] for name in statics) for key in common}
        for group, holds in LEARNED_GROUPS.items():
            cells = [
                _counted([(mine[key], costs[name][key]) for key in mine if holds(key[0]) and key in costs[name]])
                for name in ("best static", "bp-reinforced", "annealing", "tabu")
            ]
            lines.append([f"{seconds:g} s", group, *cells])
    return lines


def _counted(pairs: list[tuple[float, float]]) -> str:
    better, worse = sum(a < b for a, b in pairs), sum(a > b for a, b in pairs)
    return f"{better} / {len(pairs) - better - worse} / {worse}"


REPEATED = ("kernels compiled", *(f"above call {calls}" for calls in range(2, 10)))
"""Rows of the first minute that are shown only where their bar is missed."""


def first_use() -> tuple[Mapping[str, Any], list[list[str]]]:
    """How the first minute was measured, and its rows."""
    kept = json.loads((RECORDED / "first_use.json").read_text(encoding="utf-8"))
    rows = [
        [row["what"], f"{row['value']:.3g} {row['unit']}".strip(), f"{row['most']:g}"]
        for row in kept["rows"]
        if row["value"] > row["most"] or not row["what"].endswith(REPEATED)
    ]
    return {**kept, "machine": f"{kept['processor']}, {kept['cores']} cores"}, rows


def ablation() -> str:
    """The members and rules of `auto` whose absence changes answers most."""
    from benchmarks.auto_ablation import COLUMNS
    from benchmarks.auto_ablation import ablation as all_parts

    lines = sorted(all_parts(rows_of("auto_ablation")), key=lambda line: -abs(float(line[4])))
    return markdown(COLUMNS[:-1], [line[:-1] for line in lines[:MOST_EFFECTS]])


QUICK_SECONDS = 0.3
"""Public files that both prove within this time are counted together."""


def instances() -> list[list[str]]:
    """Rows of public files: what `auto` and toulbar2 find within 60 s, and when it is proved."""
    found = _grouped("auto", r"([\w-]+\.[\w.]+)-(auto|toulbar2)")
    lines, quick = [], []
    for (name,), rows in sorted(found.items()):
        both = [rows["auto"], rows["toulbar2"]]
        if all(row["status"] == "OPTIMAL" and row["runtime"] <= QUICK_SECONDS for row in both):
            quick.append([row["runtime"] for row in both])
        else:
            lines.append([name, *(_ended(row) for row in both)])
    most = np.max(quick, axis=0)
    return [*lines, [f"{len(quick)} others", *(f"proved, at most {seconds:.2f} s" for seconds in most)]]


def _ended(row: Row) -> str:
    proved = f"proved, {row['runtime']:.1f} s" if row["status"] == "OPTIMAL" else "not proved"
    return f"{float(row['cost']):.8g} {proved}"


def races() -> list[list[str]]:
    """The rows of README's table: public races, what `auto` comes to, and the strongest of the others."""
    cuts = _against_best_known("public_maxcut", "Max-cut and QUBO") or _cuts()
    return [*_uai(), *cuts, *_images(), *_against_best_known("public_qap", "Quadratic assignment (QAPLIB)")]


def _uai() -> list[list[str]]:
    rows = [row for row in rows_of("public_uai") if row["solver"] == "auto" and row.get("off") is not None]
    if not rows:
        return []
    entrants: dict[str, list[float]] = defaultdict(list)
    for row in rows:
        for name, score in row.get("entrants", {}).items():
            entrants[name].append(score)
    means = {name: sum(scores) / len(rows) for name, scores in entrants.items()}  # none where there is no answer
    best = max(means, key=means.__getitem__, default=None)
    ours = f"score {np.mean([row['off'] for row in rows]):.2f} on {len(rows)} problems"
    return [["UAI 2022, most probable explanation", ours, "–" if best is None else f"{best}: {means[best]:.2f}"]]


def _cuts() -> list[list[str]]:
    rows = max_cut()
    if not rows:
        return []
    best = [max(float(cell) for cell in row[1:]) for row in rows]
    reached = [sum(float(row[column]) >= most for row, most in zip(rows, best, strict=True)) for column in (1, 2, 3)]
    names = " and ".join(f"{name} {count}" for name, count in zip(("annealing", "tabu"), reached[1:], strict=True))
    return [["Max-cut, 5 s", f"the largest cut on {reached[0]} of {len(rows)} graphs", names]]


def _images() -> list[list[str]]:
    rows = [row for row in vision() if row[1] == "10"]
    if not rows:
        return []
    ours, peer = (np.mean([float(row[column]) for row in rows]) for column in (2, 5))
    proved, runs = (sum(int(row[-1].split(" of ")[which]) for row in rows) for which in (0, 1))
    first = f"{ours:.3f} % above the bound, {proved} of {runs} proved"
    return [["Labelling images, 10 s", first, f"α-expansion by PyMaxflow: {peer:.3f} %"]]


def _against_best_known(name: str, title: str) -> list[list[str]]:
    """The row of a suite of `benchmarks.public` whose best known values are recorded; none without runs."""
    rows = [row for row in rows_of(name) if row["solver"] == "auto" and row.get("off") is not None]
    if not rows:
        return []
    reached = sum(row["off"] <= REACHED_PERCENT for row in rows)
    mean = np.mean([row["off"] for row in rows])
    proved = sum(row["status"] == "OPTIMAL" for row in rows)
    first = f"the best known value on {reached} of {len(rows)}, {mean:.2f} % off it in the mean"
    return [[title, first, f"proved by `auto`: {proved}"]]
