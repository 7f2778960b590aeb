"""Tables of results: a row per solver, columns per group of instances; as text, CSV, Markdown or LaTeX."""

from __future__ import annotations

import csv
import io
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from dabp.errors import ParameterError, suggestion
from dabp.lab.experiments.experiment_plan import Plan
from dabp.lab.experiments.statistics import Wilcoxon, mean_interval, wilcoxon
from dabp.lab.experiments.store import Outcome, Results
from dabp.problem.shown import shown

HEADINGS = ("Solver", "Cost", "±95 %", "Gap", "Time", "CPU", "Runs", "Failed")


@dataclass(frozen=True)
class Row:
    """A solver on a group: means over its runs that have an answer.

    `cost` is per constraint, `half` the half width of its 95 % interval, `gap` the relative distance to the best mean
    of the group (of the solvers with the most answers; NaN where that is 0), `time` the solver's seconds, `cpu` the
    process's processor seconds (what a busy machine leaves comparable), `runs` how many answers are averaged, `failed`
    how many runs gave none, with `reasons`.
    """

    group: str
    label: str
    cost: float
    half: float
    gap: float
    time: float
    cpu: float
    runs: int
    failed: int
    reasons: str
    best: bool


def rows(results: Results, plan: Plan) -> list[Row]:
    """The table of a plan, in its order."""
    return [row for group, by_label in results.grouped(plan).items() for row in _group_rows(group, by_label)]


def _group_rows(group: str, by_label: dict[str, list[Outcome]]) -> list[Row]:
    means = {}
    for label, outcomes in by_label.items():
        costs = [cost for cost in (o.cost for o in outcomes) if cost is not None]
        means[label] = (*mean_interval(costs), len(costs))
    maximize = any(o.summary.get("maximize") for outcomes in by_label.values() for o in outcomes)
    most = max(count for _, _, count in means.values())  # who failed on hard instances is no measure for others
    complete = [mean for mean, _, count in means.values() if count == most and count]
    best = (max if maximize else min)(complete, default=math.nan)
    made = []
    for label, outcomes in by_label.items():
        mean, half, count = means[label]
        times = [o.summary["runtime"] for o in outcomes if not o.failed]
        reasons = Counter(o.summary.get("reason", "no feasible assignment") for o in outcomes if o.cost is None)
        words = ", ".join(f"{count} {reason}" for reason, count in reasons.items())
        gap = abs(mean - best) / abs(best) if best else (0.0 if mean == best else math.nan)
        spent = [o.summary["cpu"] for o in outcomes if not o.failed]
        time, cpu = (sum(each) / len(each) if each else math.nan for each in (times, spent))
        best_here = mean == best and count == most
        made.append(Row(group, label, mean, half, gap, time, cpu, count, len(outcomes) - count, words, best_here))
    return made


@dataclass(frozen=True)
class Comparison:
    """Two solvers on the same instances and seeds: how often the first is better, and whether by chance."""

    first: str
    second: str
    wins: int
    draws: int
    losses: int
    mean_difference: float
    """Mean of the first's cost per constraint minus the second's."""
    test: Wilcoxon


def compare(results: Results, plan: Plan, first: str, second: str) -> Comparison:
    """Pair two solvers of a plan by instance and repetition; pairs with a missing answer are left out."""
    for label in (first, second):
        if label not in plan.labels:
            raise ParameterError(f"the plan has no solver labelled {label!r}{suggestion(label, plan.labels)}")
    costs: dict[str, dict[tuple[str, str], float]] = {first: {}, second: {}}
    signs: dict[tuple[str, str], float] = {}
    for outcome in results.outcomes(plan):
        if outcome.run.label in costs and outcome.cost is not None:
            place = (outcome.run.group, outcome.run.instance_key)
            costs[outcome.run.label][place] = outcome.cost
            signs[place] = -1.0 if outcome.summary["maximize"] else 1.0
    shared = sorted(costs[first].keys() & costs[second].keys())
    if not shared:
        raise ParameterError(f"no instance was answered by both {first!r} and {second!r}")
    differences = [costs[first][place] - costs[second][place] for place in shared]
    worse = [signs[place] * difference for place, difference in zip(shared, differences, strict=True)]
    tolerance = 1e-9 * max(1.0, *(abs(costs[first][place]) for place in shared))
    wins, losses = sum(d < -tolerance for d in worse), sum(d > tolerance for d in worse)
    mean = sum(differences) / len(differences)
    draws = len(shared) - wins - losses
    return Comparison(first, second, wins, draws, losses, mean, wilcoxon(worse, tolerance))


def seconds(value: float) -> str:
    """4.1 s, 3 m 20 s, 2 h 5 m."""
    if math.isnan(value):
        return "–"
    if value < 100:
        return f"{value:.2g} s" if value < 9.95 else f"{value:.0f} s"
    minutes, rest = divmod(round(value), 60)
    return f"{minutes} m {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} m"


def cells(row: Row) -> list[str]:
    """A row as people read it, in the order of `HEADINGS`."""
    cost = "–" if math.isnan(row.cost) else f"{row.cost:.3f}"
    half = "–" if math.isnan(row.half) else f"{row.half:.3f}"
    gap = "–" if math.isnan(row.gap) else f"{100 * row.gap:.2f} %"
    failed = f"{row.failed} ({shown(row.reasons)})" if row.failed else "0"
    return [shown(row.label), cost, half, gap, seconds(row.time), seconds(row.cpu), str(row.runs), failed]


def as_text(table: Sequence[Row]) -> str:
    """Aligned columns, a heading per group."""
    parts = []
    for group, members in _by_group(table):
        lines = [HEADINGS, *(cells(row) for row in members)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        parts.append(shown(group))
        for first, *middle, last in lines:
            numbers = [cell.rjust(width) for cell, width in zip(middle, widths[1:-1], strict=True)]
            parts.append("  ".join([first.ljust(widths[0]), *numbers, last]))
        parts.append("")
    return "\n".join(parts)


def as_markdown(table: Sequence[Row]) -> str:
    """A table per group; the best in bold."""
    lines = []
    for group, members in _by_group(table):
        lines += [f"**{_markdown(shown(group))}**", "", "| " + " | ".join(HEADINGS) + " |"]
        lines.append("| --- |" + " ---: |" * (len(HEADINGS) - 1))
        for row in members:
            written = [_markdown(cell) for cell in cells(row)]
            written[1] = f"**{written[1]}**" if row.best else written[1]
            lines.append("| " + " | ".join(written) + " |")
        lines.append("")
    return "\n".join(lines)


def as_csv(table: Sequence[Row]) -> str:
    """Full precision, a line per group and solver."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(
        ["group", "solver", "cost", "half_width_95", "gap", "seconds", "cpu_seconds", "runs", "failed", "reasons"]
    )
    for r in table:
        names = [shown(r.group), shown(r.label)]
        writer.writerow([*names, r.cost, r.half, r.gap, r.time, r.cpu, r.runs, r.failed, shown(r.reasons)])
    return stream.getvalue()


def as_latex(table: Sequence[Row]) -> str:
    """For ``booktabs``; the best in bold."""
    lines = ["\\begin{tabular}{@{}lrrrrrrr@{}}", "\\toprule", " & ".join(map(_latex, HEADINGS)) + " \\\\"]
    for group, members in _by_group(table):
        lines += ["\\midrule", f"\\multicolumn{{{len(HEADINGS)}}}{{c}}{{{_latex(shown(group))}}} \\\\", "\\midrule"]
        for row in members:
            written = [_latex(cell) for cell in cells(row)]
            written[1] = f"\\textbf{{{written[1]}}}" if row.best else written[1]
            lines.append(" & ".join(written) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


FORMATS: dict[str, Callable[[Sequence[Row]], str]] = {
    "text": as_text,
    "csv": as_csv,
    "markdown": as_markdown,
    "latex": as_latex,
}


def _latex(text: str) -> str:
    special: dict[str, str | int | None] = {"\\": r"\textbackslash{}", "|": r"\textbar{}", "–": "--"}
    special |= {
        "±": r"$\pm$",
        "λ": r"$\lambda$",
        "^": r"\^{}",
        "~": r"\~{}",
        **{character: f"\\{character}" for character in "&%$#_{}"},
    }
    return text.translate(str.maketrans(special))


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is: no emphasis, link, code or HTML comes of it."""
    return re.sub(r"[\\`*\[\]<>&|]", lambda match: f"\\{match[0]}", text)


def _by_group(table: Sequence[Row]) -> list[tuple[str, list[Row]]]:
    return [(group, [row for row in table if row.group == group]) for group in dict.fromkeys(r.group for r in table)]
