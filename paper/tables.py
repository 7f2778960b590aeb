"""The tables of docs/paper.md, each as Markdown, made from results alone: nothing on that page is typed in."""

from __future__ import annotations

import csv
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from statistics import mean, median

from dabp.errors import ParameterError
from dabp.lab.experiments.experiment_plan import Plan
from dabp.lab.experiments.results_table import Row, compare, rows, seconds
from dabp.lab.experiments.statistics import mean_interval
from dabp.lab.experiments.store import Outcome, Results

PAPER = Path(__file__).parent / "table1.csv"
PAPER_MEMORY = Path(__file__).parent / "memory.csv"
NONE = "–"
"""Where nothing was run, or nothing answered."""
DABP = "DABP (restarts=5)"
PAIRS = (
    (DABP, "toulbar2"),
    (DABP, "MBE"),
    (DABP, "GAT-PCM-LNS"),
    (DABP, "DBP"),
    (DABP, "DBP-SCFG"),
    ("DBP-SCFG, 20 jittered restarts", DABP),
    ("reinforced BP", DABP),
    ("annealing", DABP),
    ("tabu", DABP),
    ("DABP (restarts=20)", DABP),
    ("DBP-SCFG, 20 jittered restarts", "DABP (restarts=20)"),
    ("tabu", "DABP (restarts=20)"),
)


def tables(results: Results) -> dict[str, str]:
    """Every table whose plan was run, by the name of its place on the page."""
    made = {}
    for name, build in TABLES.items():
        plans = [each for each in results.plan_names if each.removesuffix("-small") == PLANS[name]]
        if plans:
            made[name] = build(results, results.plan(plans[0]))
    return made


def side_by_side(results: Results, plan: Plan) -> str:
    """Our cost and processor time beside the paper's cost and time, a table per family."""
    ours = {(row.group, row.label): row for row in rows(results, plan)}
    with open(PAPER, encoding="utf-8") as stream:
        theirs = list(csv.DictReader(stream))
    sizes = sorted({line["variables"] for line in theirs}, key=int)
    parts = []
    for family in dict.fromkeys(line["family"] for line in theirs):
        published = {(line["solver"], line["variables"]): line for line in theirs if line["family"] == family}
        labels = dict.fromkeys([*(s for s, _ in published), *(lb for g, lb in ours if g.startswith(f"{family} ("))])
        body = []
        for label in labels:
            cells = [label]
            for size in sizes:
                line, row = published.get((label, size)), ours.get((f"{family} (variables={size})", label))
                cells.append(f"{line['cost']} ({seconds(float(line['seconds']))})" if line else "")
                cells.append("" if row is None else _ours(row))
            body.append(cells)
        heads = [head for size in sizes for head in (f"{size} variables: paper", "ours")]
        parts.append(f"**{family}**\n\n" + _markdown(["Solver", *heads], body))
    return "\n".join(parts)


def paired(results: Results, plan: Plan) -> str:
    """Win, draw and loss of the first over all instances of the table, with Wilcoxon's test."""
    body = []
    for first, second in PAIRS:
        try:
            c = compare(results, plan, first, second)
        except ParameterError:  # not both in the plan, or no instance answered by both
            continue
        counts = f"{c.wins} / {c.draws} / {c.losses}"
        body.append([first, second, counts, f"{c.mean_difference:.3f}".replace("-", "−"), f"{c.test.p_value:.1g}"])
    return _markdown(["First", "Second", "W / D / L", "Difference", "p"], body)


def convergence(results: Results, plan: Plan) -> str:
    """Share of restarts that converge within 1,000 iterations, and the median length of a restart."""
    body = []
    for family, outcomes in _families(results, plan):
        cells = [family]
        for label in ("DBP", "DBP-SCFG", DABP):
            restarts = [
                row
                for outcome in outcomes
                if outcome.run.label == label and not outcome.failed
                for row in results.trace(outcome.run.key)
                if row["type"] == "restart"
            ]
            ends = [("converged",)] if label != DABP else [("converged",), ("converged", "settled")]
            if not restarts:
                cells += [NONE] * len(ends)
                continue
            length = f"{median(row['iterations'] for row in restarts):.0f}"
            shares = [f"{mean(any(row.get(end) for end in each) for row in restarts):.2f}" for each in ends]
            cells += [*shares[:-1], f"{shares[-1]}, {length}"]
        body.append(cells)
    return _markdown(["", "DBP", "DBP-SCFG", "DABP, messages", "DABP, messages or costs"], body)


def damping(results: Results, plan: Plan) -> str:
    """Mean cost for each damping factor over a family's instances of all sizes, and what they find at best."""
    factors = sorted({run.swept["damping"] for run in plan.runs if "damping" in run.swept})
    body = []
    for family, outcomes in _families(results, plan):
        costs = _by_label(outcomes)
        for series in ("DBP", "DBP-SCFG"):
            swept = [costs[f"{series} (damping={factor:g})"] for factor in factors]
            first = series == "DBP"
            learned = "" if first else _mean(costs[_learned(plan)].values())
            body.append(
                [family if first else "", series, *(_mean(each.values()) for each in swept),
                 _mean(_least(swept).values()), learned]
            )  # fmt: skip
    heads = ["", "", *(f"λ={factor:g}" for factor in factors), "best of all λ", _learned(plan)]
    return _markdown(heads, body)


def tuning(results: Results, plan: Plan) -> str:
    """Processor seconds to try every damping factor, beside one run of DABP, and who finds the better answer."""
    body = []
    for family, outcomes in _families(results, plan):
        spent: dict[str, float] = defaultdict(float)
        for outcome in outcomes:
            spent[outcome.run.series] += outcome.summary.get("cpu", 0.0)
        costs = _by_label(outcomes)
        best = _least([each for label, each in costs.items() if label.startswith("DBP-SCFG (")])
        counts = [0, 0, 0]
        for instance, cost in costs[_learned(plan)].items():
            difference = cost - best.get(instance, math.nan)
            if not math.isnan(difference):
                counts[1 if abs(difference) < 1e-9 else (0 if difference < 0 else 2)] += 1
        instances = len({outcome.run.instance_key for outcome in outcomes})
        times = [seconds(spent[series] / instances) for series in ("DBP", "DBP-SCFG", "DABP")]
        body.append([family, *times, " / ".join(map(str, counts))])
    heads = ["", "DBP, all λ", "DBP-SCFG, all λ", _learned(plan), "DABP against DBP-SCFG's best λ: W / D / L"]
    return _markdown(heads, body)


def effective_iterations(results: Results, plan: Plan) -> str:
    """Mean cost for each number of effective iterations."""
    values = sorted({run.swept["effective_iterations"] for run in plan.runs if run.swept})
    by_group: dict[str, dict[str, Row]] = defaultdict(dict)
    for row in rows(results, plan):
        by_group[row.group][row.label] = row
    body = [
        [group, *(_cost(cells.get(f"DABP (effective_iterations={value})")) for value in values)]
        for group, cells in by_group.items()
    ]
    return _markdown(["", *(f"T_eff={value}" for value in values)], body)


def ablation(results: Results, plan: Plan) -> str:
    """Mean cost of DABP and of what is left of it, and how DABP fares against each."""
    labels = list(dict.fromkeys(run.label for run in plan.runs))
    body = []
    for family, outcomes in _families(results, plan):
        costs = _by_label(outcomes)
        body.append([family, *(_interval(costs[label].values()) for label in labels)])
    versus = ["DABP: W / D / L (p)", "", *(_wins(results, plan, labels[0], label) for label in labels[1:])]
    return _markdown(["", *labels], [*body, versus])


def memory(results: Results, plan: Plan) -> str:
    """Largest resident memory of DABP's runs in MB, beside the paper's memory of the graphics card in GB."""
    with open(PAPER_MEMORY, encoding="utf-8") as stream:
        published = {(line["family"], line["variables"]): line["gigabytes"] for line in csv.DictReader(stream)}
    families = list(dict.fromkeys(family for family, _ in published))
    peaks: dict[tuple[str, str], list[float]] = defaultdict(list)
    for family, outcomes in _families(results, plan):
        for outcome in outcomes:
            if not outcome.failed:
                size = str(outcome.run.instance["parameters"]["variables"])
                peaks[family, size].append(outcome.summary["peak_memory"] / 1e6)
    body = []
    for size in sorted({size for _, size in published}, key=int):
        body.append([f"{size} variables: paper, GB", *(published[family, size] for family in families)])
        body.append(
            ["ours, MB", *(f"{mean(peaks[family, size]):.0f}" if peaks[family, size] else "" for family in families)]
        )
    return _markdown(["", *families], body)


TABLES: dict[str, Callable[[Results, Plan], str]] = {
    "table1": side_by_side,
    "paired": paired,
    "convergence": convergence,
    "damping": damping,
    "tuning": tuning,
    "effective-iterations": effective_iterations,
    "ablation": ablation,
    "memory": memory,
}
PLANS = {**{name: name for name in TABLES}, "paired": "table1", "convergence": "table1", "tuning": "damping"}
"""The plan that each is made from, at either size."""


def _learned(plan: Plan) -> str:
    """The label of DABP in a plan that has it with one number of restarts."""
    return next(label for label in plan.labels if label.startswith("DABP"))


def _wins(results: Results, plan: Plan, first: str, second: str) -> str:
    try:
        c = compare(results, plan, first, second)
    except ParameterError:  # no instance was answered by both
        return NONE
    return f"{c.wins} / {c.draws} / {c.losses} ({c.test.p_value:.2g})"


def _interval(values: Iterable[float]) -> str:
    """The mean and half of its 95 % confidence interval."""
    known = [value for value in values if not math.isnan(value)]
    if not known:
        return NONE
    centre, half = mean_interval(known)
    return f"{centre:.3f}" if math.isnan(half) else f"{centre:.3f} ± {half:.3f}"


def _least(columns: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Instance → the least cost of several solvers."""
    least: dict[str, float] = {}
    for column in columns:
        for instance, cost in column.items():
            known = least.get(instance, math.nan)
            least[instance] = known if math.isnan(cost) else cost if math.isnan(known) else min(cost, known)
    return least


def _mean(values: Iterable[float], digits: int = 2) -> str:
    known = [value for value in values if not math.isnan(value)]
    return f"{mean(known):.{digits}f}" if known else NONE


def _cost(row: Row | None) -> str:
    return NONE if row is None or math.isnan(row.cost) else f"{row.cost:.3f}"


def _families(results: Results, plan: Plan) -> Iterable[tuple[str, list[Outcome]]]:
    """A plan's outcomes by family, sizes together."""
    found: dict[str, list[Outcome]] = {}
    for outcome in results.outcomes(plan):
        found.setdefault(outcome.run.group.split(" (")[0], []).append(outcome)
    return found.items()


def _by_label(outcomes: Iterable[Outcome]) -> Mapping[str, dict[str, float]]:
    """Solver → instance → cost per constraint."""
    costs: dict[str, dict[str, float]] = defaultdict(dict)
    for outcome in outcomes:
        costs[outcome.run.label][outcome.run.instance_key] = math.nan if outcome.cost is None else outcome.cost
    return costs


def _ours(row: Row) -> str:
    if not row.runs:
        return f"failed ({row.reasons})"
    half = "" if math.isnan(row.half) else f" ± {row.half:.2f}"
    return f"{row.cost:.2f}{half} ({seconds(row.cpu)}, n={row.runs})"


def _markdown(heads: list[str], body: list[list[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *body]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
