"""The report as a file: self-contained, complete, and safe against what labels contain."""

from __future__ import annotations

import json
import re

from dabp.lab.experiments.experiment_plan import load_plan
from dabp.lab.experiments.figures import figure
from dabp.lab.experiments.report import write_report
from dabp.lab.experiments.results_table import FORMATS, rows
from dabp.lab.experiments.store import Results
from dabp.plots.drawing import draw_figure
from dabp.plots.style import take_names_literally
from dabp.problem.shown import shown
from tests.lab.experiments.small import run_plan


def test_the_page_refers_to_nothing_outside(results, tmp_path):
    """No address, no import, no element that loads; a policy forbids the rest."""
    write_report(results, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    outside = re.findall(r"""(?:src|href)\s*=\s*["'](?!data:|#)[^"'$]""", page)
    assert outside == []
    assert "default-src 'none'" in page
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", page)


def test_the_page_holds_tables_figures_and_provenance(results, tmp_path):
    """Everything that the page draws is in its data."""
    write_report(results, tmp_path / "report.html", title="Tables & <figures>")
    page = (tmp_path / "report.html").read_text()
    assert "<title>Tables &amp; &lt;figures&gt;</title>" in page
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    plan = data["plans"][0]
    assert len(plan["table"]) == 8
    assert [f["name"] for f in plan["figures"]] == [
        "cost-iterations", "cost-time", "convergence", "sweep", "tuning-time", "ablation", "memory"]  # fmt: skip
    assert len(plan["failures"]) == 9
    assert len(plan["comparisons"]) == 3
    assert "seed = 7" in plan["text"]
    assert plan["environment"]["command"] == ["dabp", "experiment", "run", "small.toml"]
    assert {"dabp", "numpy"} <= set(plan["environment"]["versions"])


def test_labels_neither_run_nor_turn_the_page(tmp_path):
    """Markup, HTML, control characters and marks of direction in titles, labels and groups are text on the page."""
    wild = "<script>alert(1)</script></script><!-- \u202e\x1b[2J PAGE TITLE /* DATA */ $x^$"
    plan = tmp_path / "plan.toml"
    plan.write_text(
        f"title = {json.dumps(wild)}\nfigures = ['ablation']\n[limits]\niterations = 9\n[[instances]]\n"
        f"label = {json.dumps(wild)}\nfamily = 'random-cop'\nparameters = {{ variables = 4, domain = 2 }}\n"
        f"[[solvers]]\nsolver = 'dsa'\nlabel = {json.dumps(wild)}\n"
    )
    run_plan(load_plan(plan), tmp_path / "out")
    results = Results(tmp_path / "out")
    write_report(results, tmp_path / "report.html")
    page = (tmp_path / "report.html").read_text()
    assert "<script>alert" not in page
    assert page.count("</script>") == 2
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.DOTALL)[1])
    seen = shown(wild)
    assert (data["plans"][0]["title"], data["plans"][0]["table"][0]["group"]) == (seen, seen)
    assert data["plans"][0]["table"][0]["cells"][0] == seen
    for name, write in FORMATS.items():
        text = write(rows(results, results.plan()))
        assert all(shown(line) == line for line in text.splitlines()), name
    assert "<script>" not in FORMATS["markdown"](rows(results, results.plan())).replace("\\<", "")
    drawn = draw_figure(figure("ablation", results, results.plan()), [wild])
    take_names_literally(drawn)
    drawn.savefig(tmp_path / "figure.png")
