"""The paper's plans fit the solvers and generators as they are; the recorded results are those of the small plans."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from dabp.lab.experiments.checking import check
from dabp.lab.experiments.experiment_plan import load_plan
from dabp.lab.experiments.store import Results

PAPER = Path(__file__).parents[2] / "paper"
SMALL = sorted((PAPER / "small").glob("*.toml"))


@pytest.mark.parametrize(
    "path", [*sorted(PAPER.glob("*.toml")), *SMALL], ids=lambda path: f"{path.parent.name}/{path.stem}"
)
def test_plans_name_what_exists(path):
    """Solvers, families and parameters of every plan are known."""
    check(load_plan(path))


def test_full_plans_have_the_papers_size():
    """100 instances of each family and size, R up to 20, toulbar2 1,200 s."""
    plan = load_plan(PAPER / "table1.toml")
    assert len(plan.groups) == 12
    assert len(plan.runs) == 12 * 100 * 8
    assert {run.limits.time for run in plan.runs if run.label == "toulbar2"} == {1200}


def test_recorded_results_are_complete():
    """Every run of every small plan, as it stands, has its result in the file that is kept with them."""
    results = Results(PAPER / "small" / "results.jsonl.xz")
    for path in SMALL:
        plan = load_plan(path)
        assert results.plan(plan.name).runs == plan.runs, path.name
        assert len(results.outcomes(plan)) == len(plan.runs), path.name


def test_the_papers_table_is_whole():
    """96 published numbers: 8 rows, 4 families, 3 sizes."""
    with open(PAPER / "table1.csv", encoding="utf-8") as stream:
        lines = list(csv.DictReader(stream))
    assert len({(line["family"], line["variables"], line["solver"]) for line in lines}) == 96
