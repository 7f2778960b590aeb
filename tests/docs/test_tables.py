"""docs/paper.md: every table on it is what the recorded runs give."""

from __future__ import annotations

import itertools
import math
import re
from pathlib import Path
from typing import Any

import pytest

from dabp.lab.experiments.experiment_plan import Plan, load_plan
from dabp.lab.experiments.store import Outcome, Results

ROOT = Path(__file__).parents[2]


class Empty:
    """The full plans before anything has run, as `Results` gives them."""

    def __init__(self) -> None:
        plans = [load_plan(path) for path in (ROOT / "paper").glob("*.toml")]
        self._plans = {plan.name: plan for plan in plans}
        self.plan_names = list(self._plans)

    def plan(self, name: str) -> Plan:
        return self._plans[name]

    def outcomes(self, plan: Plan) -> list[Outcome]:
        """One run that failed, of each group."""
        first = {run.group: run for run in reversed(plan.runs)}
        return [Outcome(run, {"state": "failed", "reason": "lost"}) for run in first.values()]

    grouped = Results.grouped

    def summary(self, key: str) -> None:
        return None

    def trace(self, key: str) -> list[dict[str, Any]]:
        return []


def test_tables_of_the_full_plans_stand_before_their_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    """What has not been run, or failed, is a gap in a table and no error."""
    monkeypatch.syspath_prepend(str(ROOT / "paper"))
    import tables

    made = tables.tables(Empty())
    assert made.keys() == tables.TABLES.keys()
    assert "–" in made["ablation"]


def test_a_failed_run_hides_no_better_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """The least cost of several solvers is that of those that have one, in whatever order they come."""
    monkeypatch.syspath_prepend(str(ROOT / "paper"))
    import tables

    for order in itertools.permutations([2.0, math.nan, 3.0]):
        assert tables._least({"i": cost} for cost in order) == {"i": 2.0}


def test_the_page_shows_what_was_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filling in the tables again changes nothing, and none is missing."""
    monkeypatch.syspath_prepend(str(ROOT / "paper"))
    import places
    import tables

    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    results = Results(ROOT / "paper" / "small" / "results.jsonl.xz")
    made, values = tables.tables(results), tables.numbers(results)
    assert made.keys() == tables.TABLES.keys()
    assert {place["name"] for place in places.PLACE.finditer(page)} == made.keys()
    assert places.filled(page, made, values) == page


def test_no_measured_number_of_the_prose_is_typed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Outside of filled places, code and the table of settings, numbers are those of the plans and of the paper."""
    monkeypatch.syspath_prepend(str(ROOT / "paper"))
    import places

    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    prose = places.NUMBER.sub("", places.PLACE.sub("", page))
    prose = re.sub(r"```.*?```|`[^`]*`|\]\([^)]*\)|^\|.*?$", "", prose, flags=re.DOTALL | re.MULTILINE)
    known = {"1", "2", "3", "5", "10", "20", "30", "60", "80", "100", "40", "95", "1,000", "2022"}  # plans and paper
    known |= {"0.3-0.7", "0.9", "0", "0.1", "96.25", "4.3", "270"}
    assert set(re.findall(r"\d[\d.,-]*\d|\d", prose)) <= known


def test_a_run_that_ended_before_its_last_restart_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """R=20 on the page means 20 restarts: the recorded runs that a limit of time cut are not averaged."""
    monkeypatch.syspath_prepend(str(ROOT / "paper"))
    import tables

    results = Results(ROOT / "paper" / "small" / "results.jsonl.xz")
    plan = results.plan("table1-small")
    for run in plan.runs:
        if run.label == "DABP (restarts=20)" and results.summary(run.key) is not None:
            restarts = {row["restart"] for row in results.trace(run.key) if row["type"] == "restart"}
            assert tables.cut_short(results, run) == (len(restarts) < 20)
