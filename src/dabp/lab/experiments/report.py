"""A page people can open: tables that sort, figures that answer to the pointer, and how everything was made.

The page is one file without a single reference to another: style, program and data are inside, and a content policy
forbids it to load anything, so that it opens the same from a disk, a mail or an archive.
"""

from __future__ import annotations

import contextlib
import dataclasses
import html
import itertools
import json
import math
from collections.abc import Sequence
from importlib import resources
from pathlib import Path
from typing import Any

from dabp.errors import ParameterError
from dabp.lab.experiments.experiment_plan import Plan
from dabp.lab.experiments.figures import figure
from dabp.lab.experiments.results_table import HEADINGS, Row, cells, compare, rows
from dabp.lab.experiments.store import Results
from dabp.plots.drawing import Figure
from dabp.plots.style import PALETTE
from dabp.problem.shown import shown
from dabp.safe_files import replacing


def write_report(results: Results, target: str | Path, title: str | None = None) -> None:
    """Write the page of all plans in a folder or packed file of results."""
    plans = [_plan_data(results, name) for name in results.plan_names]
    heading = title or (plans[0]["title"] if len(plans) == 1 else "Experiments")
    data = {"title": heading, "palette": list(PALETTE), "headings": list(HEADINGS), "plans": plans}
    page = _part("page.html")
    # What is filled in is never searched for further placeholders, so data cannot smuggle any in.
    head, _, rest = page.partition("/* STYLE */")
    middle, _, rest = rest.partition("/* DATA */")
    between, _, tail = rest.partition("/* PROGRAM */")
    filled = "".join([head, _part("page.css"), middle, _json(data), between, _part("page.js"), tail])
    with replacing(target) as stream:
        stream.write(filled.replace("PAGE TITLE", html.escape(shown(heading)), 1))


def _plan_data(results: Results, name: str) -> dict[str, Any]:
    plan = results.plan(name)
    table = rows(results, plan)
    default = ("cost-iterations", "cost-time", "convergence", "ablation", "memory")
    figures = [figure(each, results, plan) for each in plan.figures or default]
    outcomes = results.outcomes(plan)
    failures = [
        {
            "solver": o.run.label,
            "group": o.run.group,
            "instance": _instance(o.run.instance),
            "reason": f"{o.summary['reason']}: {o.summary['detail']}",
        }
        for o in outcomes
        if o.failed
    ]
    return {
        "name": name,
        "title": plan.title,
        "runs": len(plan.runs),
        "finished": len(outcomes),
        "table": [_row(row) for row in table],
        "labels": _labels(plan, figures),
        "figures": [dataclasses.asdict(each) for each in figures if each.panels],
        "comparisons": _comparisons(results, plan),
        "failures": failures,
        "text": plan.text,
        "environment": results.environment(name),
    }


def _row(row: Row) -> dict[str, Any]:
    """Cells as people read them, and the numbers to sort them by."""
    numbers = [row.label, row.cost, row.half, row.gap, row.time, row.cpu, row.runs, row.failed]
    return {"group": row.group, "best": row.best, "cells": cells(row), "sort": numbers}


def _labels(plan: Plan, figures: Sequence[Figure]) -> list[str]:
    """What figures show, in their order, then the plan's other solvers: each has its colour on the whole page."""
    curves = [curve.label for each in figures for panel in each.panels for curve in panel.curves]
    return list(dict.fromkeys([*curves, *plan.labels]))


def _comparisons(results: Results, plan: Plan) -> list[dict[str, Any]]:
    shown = list(dict.fromkeys(c.label for panel in figure("ablation", results, plan).panels for c in panel.curves))
    if not 2 <= len(shown) <= 12:  # a table of 70 and more tests would mislead
        return []
    found = []
    for first, second in itertools.combinations(shown, 2):
        with contextlib.suppress(ParameterError):  # no instance in common
            found.append(dataclasses.asdict(compare(results, plan, first, second)))
    return found


def _instance(instance: Any) -> str:
    if "file" in instance:
        return Path(instance["file"]).name
    return f"{instance['family']}, seed {instance['seed']}"


def _part(name: str) -> str:
    return (resources.files("dabp.lab.experiments") / "page" / name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    """JSON that can stand inside a script element."""
    text = json.dumps(_presentable(data), ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _presentable(data: Any) -> Any:
    """Data without what JSON has no word for (NaN), and with names that do not turn a page's text around."""
    if isinstance(data, float):
        return data if math.isfinite(data) else None
    if isinstance(data, str):
        return shown(data, keep="\n\t")
    if isinstance(data, dict):
        return {key: _presentable(value) for key, value in data.items()}
    return [_presentable(value) for value in data] if isinstance(data, list | tuple) else data
