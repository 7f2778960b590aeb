"""The tables of docs/paper.md, each as Markdown, made from results alone: nothing on that page is typed in."""

from __future__ import annotations

import csv
import json
import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from statistics import mean, median

import numpy as np

from dabp import Problem, generate
from dabp.errors import ParameterError
from dabp.lab.experiments.experiment_plan import Plan, Run
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
        plan = _plan_of(results, PLANS[name])
        if plan is not None:
            made[name] = build(results, plan)
    return made


def _plan_of(results: Results, name: str) -> Plan | None:
    """A plan at whichever size was run, without the runs of DABP that ended before their last restart."""
    found = [each for each in results.plan_names if each.removesuffix("-small") == name]
    if not found:
        return None
    plan = results.plan(found[0])
    return replace(plan, runs=tuple(run for run in plan.runs if not cut_short(results, run)))


def cut_short(results: Results, run: Run) -> bool:
    """Whether a run of DABP has fewer restarts than its R: a limit of time ended it."""
    summary = results.summary(run.key) if run.solver.startswith("dabp") else None
    if summary is None or summary["state"] == "failed" or summary["status"] == "OPTIMAL":
        return False
    ended = sum(row["type"] == "restart" for row in results.trace(run.key))
    return bool(ended < run.parameters["restarts"])


def published() -> list[dict[str, str]]:
    """The rows of the paper's Table 1."""
    with open(PAPER, encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def side_by_side(results: Results, plan: Plan) -> str:
    """Our cost, gap and processor time beside the paper's cost, gap and time, a table per family."""
    ours = {(row.group, row.label): row for row in rows(results, plan)}
    gaps, theirs = _gaps(results, plan), published()
    sizes = sorted({line["variables"] for line in theirs}, key=int)
    parts = []
    for family in dict.fromkeys(line["family"] for line in theirs):
        paper = {(line["solver"], line["variables"]): line for line in theirs if line["family"] == family}
        labels = dict.fromkeys([*(s for s, _ in paper), *(lb for g, lb in ours if g.startswith(f"{family} ("))])
        body = []
        for label in labels:
            cells = [label]
            for size in sizes:
                line, row = paper.get((label, size)), ours.get((f"{family} (variables={size})", label))
                cells.append(_theirs(line) if line else "")
                cells.append("" if row is None else _ours(row, gaps[row.group, label]))
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


def converged_instances(results: Results, plan: Plan) -> str:
    """The paper's claim beside ours: shares of restarts and of instances, all families and sizes together."""
    counts = _convergence_counts(results, plan)
    heads = ["", "Paper", "restarts", "instances, with any of five restarts", "instances, with the first restart"]
    return _markdown(heads, [["Converged within 1,000 iterations", "96.25 %", *(f"{one:.2f} %" for one in counts)]])


def _convergence_counts(results: Results, plan: Plan) -> tuple[float, float, float]:
    """Per cent of DABP's restarts, of instances by any restart and by the first one, that converged or settled."""
    restarts: list[bool] = []
    instances: list[list[bool]] = []
    for outcome in results.outcomes(plan):
        if outcome.run.label == DABP and not outcome.failed:
            ended = [row for row in results.trace(outcome.run.key) if row["type"] == "restart"]
            instances.append([bool(row.get("converged") or row.get("settled")) for row in ended])
            restarts += instances[-1]
    if not restarts:
        return math.nan, math.nan, math.nan
    return 100 * mean(restarts), 100 * mean(map(any, instances)), 100 * mean(each[0] for each in instances)


def conflicts(results: Results, plan: Plan) -> str:
    """Colouring as the paper's text has it: the recorded answers on tables without noise on unequal values."""
    costs: dict[tuple[str, int], list[float]] = defaultdict(list)
    for outcome in results.outcomes(plan):
        instance = outcome.run.instance
        if instance.get("family") == "graph-coloring" and outcome.summary.get("assignment") is not None:
            cost = _without_noise(json.dumps(instance), tuple(outcome.summary["assignment"]))
            costs[outcome.run.label, instance["parameters"]["variables"]].append(cost)
    sizes = sorted({size for _, size in costs})
    theirs = {(line["solver"], line["variables"]): line["cost"] for line in published() if line["family"] == "WGCPs"}
    body = []
    for label in dict.fromkeys(label for label, _ in costs):
        cells = [(theirs.get((label, str(size)), ""), _mean(costs[label, size])) for size in sizes]
        body.append([label, *(text for cell in cells for text in cell)])
    return _markdown(["Solver", *(head for size in sizes for head in (f"{size} variables: paper", "ours"))], body)


def _without_noise(instance: str, assignment: tuple[int, ...]) -> float:
    """Cost per constraint of an assignment, counting equal values alone."""
    problem = _text_variant(instance)
    return problem.cost(np.array(assignment)) / problem.num_factors


@lru_cache(maxsize=128)
def _text_variant(instance: str) -> Problem:
    """A recorded colouring with 0 in place of the noise on unequal values."""
    made = json.loads(instance)
    problem = generate(made["family"], seed=made["seed"], **made["parameters"])
    tables = problem.pool.reshape(problem.num_factors, -1)
    equal = np.eye(math.isqrt(tables.shape[1]), dtype=bool).ravel()
    return problem.with_costs(np.where(equal, tables, 0.0).ravel())


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
    spent, body = _tuning_seconds(results, plan), []
    for family, outcomes in _families(results, plan):
        costs = _by_label(outcomes)
        best = _least([each for label, each in costs.items() if label.startswith("DBP-SCFG (")])
        counts = [0, 0, 0]
        for instance, cost in costs[_learned(plan)].items():
            difference = cost - best.get(instance, math.nan)
            if not math.isnan(difference):
                counts[1 if abs(difference) < 1e-9 else (0 if difference < 0 else 2)] += 1
        body.append([family, *map(seconds, spent[family]), " / ".join(map(str, counts))])
    heads = ["", "DBP, all λ", "DBP-SCFG, all λ", _learned(plan), "DABP against DBP-SCFG's best λ: W / D / L"]
    return _markdown(heads, body)


def _tuning_seconds(results: Results, plan: Plan) -> dict[str, tuple[float, float, float]]:
    """Family → mean processor seconds an instance for all λ of DBP, all λ of DBP-SCFG, and DABP."""
    found = {}
    for family, outcomes in _families(results, plan):
        spent: dict[str, float] = defaultdict(float)
        for outcome in outcomes:
            spent[outcome.run.series] += outcome.summary.get("cpu", 0.0)
        instances = len({outcome.run.instance_key for outcome in outcomes})
        found[family] = tuple(spent[series] / instances for series in ("DBP", "DBP-SCFG", "DABP"))
    return found


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
        lines = list(csv.DictReader(stream))
    ours = {(family, size): megabytes for family, size, _, megabytes in _memories(results, plan)}
    families, body = list(dict.fromkeys(line["family"] for line in lines)), []
    for size in sorted({line["variables"] for line in lines}, key=int):
        theirs = {line["family"]: line["gigabytes"] for line in lines if line["variables"] == size}
        body.append([f"{size} variables: paper, GB", *(theirs[family] for family in families)])
        known = [ours.get((family, size)) for family in families]
        body.append(["ours, MB", *("" if one is None else f"{one:.0f}" for one in known)])
    return _markdown(["", *families], body)


def _memories(results: Results, plan: Plan) -> list[tuple[str, str, float, float]]:
    """Family, variables, the paper's GB and the mean of our largest resident MB, where we have runs."""
    peaks: dict[tuple[str, str], list[float]] = defaultdict(list)
    for family, outcomes in _families(results, plan):
        for outcome in outcomes:
            if not outcome.failed:
                size = str(outcome.run.instance["parameters"]["variables"])
                peaks[family, size].append(outcome.summary["peak_memory"] / 1e6)
    with open(PAPER_MEMORY, encoding="utf-8") as stream:
        lines = [(line["family"], line["variables"], float(line["gigabytes"])) for line in csv.DictReader(stream)]
    return [(*place, paper, mean(peaks[place])) for *place, paper in lines for place in [tuple(place)] if peaks[place]]


TABLES: dict[str, Callable[[Results, Plan], str]] = {
    "table1": side_by_side,
    "paired": paired,
    "convergence": convergence,
    "converged-instances": converged_instances,
    "conflicts": conflicts,
    "damping": damping,
    "tuning": tuning,
    "effective-iterations": effective_iterations,
    "ablation": ablation,
    "memory": memory,
}
PLANS = {name: name for name in TABLES} | {
    **dict.fromkeys(("paired", "convergence", "converged-instances", "conflicts"), "table1"),
    "tuning": "damping",
}
"""The plan that each is made from, at either size."""


def numbers(results: Results) -> dict[str, str]:
    """Every number of the page's prose, by the name of its place."""
    made: dict[str, str] = {}
    plan = _plan_of(results, "table1")
    if plan is not None:
        made |= _agreement(results, plan)
        found = {row.label: [] for row in rows(results, plan)}
        for row in rows(results, plan):
            found[row.label].append(row)
        jittered = [row.cpu for row in found["DBP-SCFG, 20 jittered restarts"]]
        dabp = [row.cpu for row in found["DABP (restarts=20)"]]
        made["jittered-seconds"] = f"{max(jittered):.1f}"
        made["dabp-over-jittered"] = f"{min(d / j for d, j in zip(dabp, jittered, strict=True)):.0f}"
        made["dabp-over-jittered-most"] = f"{max(d / j for d, j in zip(dabp, jittered, strict=True)):.0f}"
        counts = [len(each) for each in _by_label(results.outcomes(plan)).values()]
        made["runs"], made["instances"] = str(sum(counts)), str(max(counts) // len(plan.groups))
        restarts, anyone, first = _convergence_counts(results, plan)
        made |= {"converged": f"{restarts:.1f}", "converged-any": f"{anyone:.1f}", "converged-first": f"{first:.1f}"}
    plan = _plan_of(results, "memory")
    if plan is not None:
        factors = [paper * 1000 / ours for _, _, paper, ours in _memories(results, plan)]
        made |= {"memory-least": f"{min(factors):.0f}", "memory-most": f"{max(factors):.0f}"}
    plan = _plan_of(results, "damping")
    if plan is not None:
        ratios = [dabp / scfg for _, scfg, dabp in _tuning_seconds(results, plan).values()]
        made |= {"tuning-least": f"{min(ratios):.0f}", "tuning-most": f"{max(ratios):.0f}"}
    return made


def _agreement(results: Results, plan: Plan) -> dict[str, str]:
    """How far our means are from the paper's, and how many of the paper's lie in our 95 % intervals."""
    ours = {(row.group, row.label): row for row in rows(results, plan)}
    apart: dict[str, list[float]] = defaultdict(list)
    inside: dict[str, list[bool]] = defaultdict(list)
    for line in published():
        row = ours.get((f"{line['family']} (variables={line['variables']})", line["solver"]))
        if row is not None and row.runs > 1:
            label = "dabp" if line["solver"].startswith("DABP") else line["solver"].lower()
            apart[label].append(abs(row.cost - float(line["cost"])))
            inside[label].append(apart[label][-1] <= row.half)
    made = {f"{label}-apart": f"{max(each):.2f}" for label, each in apart.items()}
    made |= {f"{label}-inside": str(sum(each)) for label, each in inside.items()}
    made |= {f"{label}-cells": str(len(each)) for label, each in inside.items()}
    halves = [row.half for row in ours.values() if row.label == "DBP" and row.runs > 1]
    return made | {"dbp-half-least": f"{min(halves):.1f}", "dbp-half-most": f"{max(halves):.1f}"}


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


def _gaps(results: Results, plan: Plan) -> dict[tuple[str, str], float]:
    """Group and label → per cent above the best of the paper's solvers, over the instances that both answered.

    The best is the paper's solver of least mean among those with the most answers.
    """
    in_paper, gaps = {line["solver"] for line in published()}, {}
    for group, outcomes in results.grouped(plan).items():
        costs = _by_label([outcome for each in outcomes.values() for outcome in each if outcome.cost is not None])
        most = max((len(costs[label]) for label in costs if label in in_paper), default=0)
        whole = [label for label in costs if label in in_paper and len(costs[label]) == most]
        best = min(whole, key=lambda label: mean(costs[label].values()), default=None)
        for label in outcomes:
            shared = costs[label].keys() & costs[best].keys() if best is not None and label in costs else set()
            least = sum(costs[best][each] for each in shared) if best is not None else 0.0
            gaps[group, label] = 100 * (sum(costs[label][each] for each in shared) / least - 1) if least else math.nan
    return gaps


def _theirs(line: Mapping[str, str]) -> str:
    return f"{line['cost']} ({float(line['gap_percent']):.2f} %, {seconds(float(line['seconds']))})"


def _ours(row: Row, gap: float) -> str:
    if not row.runs:
        return f"failed ({row.reasons})"
    half = "" if math.isnan(row.half) else f" ± {row.half:.2f}"
    above = "" if math.isnan(gap) else f"{gap:.2f} %, ".replace("-", "−")
    return f"{row.cost:.2f}{half} ({above}{seconds(row.cpu)}, n={row.runs})"


def _markdown(heads: list[str], body: list[list[str]]) -> str:
    lines = [heads, ["---", *["---:"] * (len(heads) - 1)], *body]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)
