"""The report as a file: self-contained, complete, and safe against what labels contain."""

from __future__ import annotations

import json
import re

from dabp.experiments.report import write_report


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
