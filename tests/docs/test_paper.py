"""docs/paper.md: every table on it is what the recorded runs give."""

from __future__ import annotations

from pathlib import Path

import pytest

from dabp.experiments.store import Results

ROOT = Path(__file__).parents[2]


def test_the_page_shows_what_was_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Filling in the tables again changes nothing, and none is missing."""
    monkeypatch.syspath_prepend(str(ROOT / "paper"))
    import render
    import tables

    page = (ROOT / "docs" / "paper.md").read_text(encoding="utf-8")
    made = tables.tables(Results(ROOT / "paper" / "small" / "results.jsonl.xz"))
    assert made.keys() == tables.TABLES.keys()
    assert {place["name"] for place in render.PLACE.finditer(page)} == made.keys()
    assert render.filled(page, made) == page
