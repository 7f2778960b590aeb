"""Tables and figures of benchmark pages, promises and README come from recorded files."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest
from benchmarks import page_tables, pages
from checks.records import Clock, table
from paper.places import NUMBER, PLACE, filled

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def made() -> tuple[dict[str, str], dict[str, str]]:
    return pages.tables(), pages.numbers()


def test_filling_again_changes_nothing(made: tuple[dict[str, str], dict[str, str]]) -> None:
    """Each page shows what the recorded files give."""
    for page in pages.pages():
        text = page.read_text(encoding="utf-8")
        assert filled(text, *made) == text, page.name


def test_every_recorded_table_is_on_a_page(made: tuple[dict[str, str], dict[str, str]]) -> None:
    """Nothing is recorded and made that nobody reads."""
    words = "\n".join(page.read_text(encoding="utf-8") for page in pages.pages())
    assert {place["name"] for place in PLACE.finditer(words)} == made[0].keys()
    assert {place["name"] for place in NUMBER.finditer(words)} == made[1].keys()


def test_no_measured_number_is_typed_into_a_table() -> None:
    """A number with a decimal point, or of three digits and more, in a table of a benchmark page lies in a place."""
    for page in sorted((ROOT / "docs" / "benchmarks").glob("*.md")):
        rest = PLACE.sub("", page.read_text(encoding="utf-8"))
        rows = [line for line in rest.splitlines() if line.startswith("|")]
        assert not [row for row in rows if pages.MEASURED.search(row)], page.name


def test_a_typed_table_is_kept_and_filled_in_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its cells, command and date go into the history, and the page shows them in a place."""
    monkeypatch.setitem(pages.HISTORY, "tables", {})
    page = tmp_path / "speed.md"
    page.write_text(
        "# Speed\n\n`python -m benchmarks.x`, 2026-11-20.\n\n| a | b |\n| --- | --- |\n| x | 1.5 |\n", "utf-8"
    )
    pages.keep(page)
    entry = {"command": "python -m benchmarks.x", "date": "2026-11-20", "columns": ["a", "b"], "rows": [["x", "1.5"]]}
    assert pages.HISTORY["tables"] == {"speed-speed": entry}
    assert page.read_text(encoding="utf-8").endswith("<!-- speed-speed -->\n<!-- end -->\n")


def test_a_table_begins_with_how_it_was_made(made: tuple[dict[str, str], dict[str, str]]) -> None:
    """With what is recorded and nothing else: command, machine, date, commit."""
    kept = pages.HISTORY["sources"]["auto_ablation"]
    line = made[0]["auto-ablation"].splitlines()[0]
    assert line == f"*`{kept['command']}`; {kept['machine']}; {kept['date']}; commit {kept['commit']}*"
    assert "commit" not in made[0]["dabp-speed"].splitlines()[0]
    assert made[0]["dabp-speed"].splitlines()[0].endswith("as measured then*")


def test_a_check_leaves_a_record_when_it_is_asked_to(tmp_path: Path) -> None:
    """The line has what the table of promises shows; without ``--record`` there is none."""
    records = tmp_path / "records.jsonl"
    for words, count in ((["--record"], "7 inputs"), ([], "8 inputs"), (["--record"], "9 inputs")):
        parser = argparse.ArgumentParser()
        clock = Clock(parser, "fuzz", records)
        clock.ended(parser.parse_args(words), count, 1)
    rows = [json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()]
    assert [row["count"] for row in rows] == ["7 inputs", "9 inputs"]
    lines = table(records).splitlines()
    assert lines[2].startswith("| fuzz | `make fuzz` | 9 inputs | 1 |")
    assert len(lines) == 4


def test_races_have_a_row_for_each_recorded_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No row for a race without runs; its means are those of the recorded runs."""
    monkeypatch.setattr(page_tables, "RECORDED", tmp_path)
    assert page_tables.races() == []
    runs = [
        {"solver": "auto", "off": 100.0, "entrants": {"a": 80.0, "b": 90.0}, "status": "OPTIMAL"},
        {"solver": "auto", "off": 98.0, "entrants": {"a": 90.0, "b": 96.0}, "status": "LIMIT"},
        {"solver": "tabu", "off": 1.0, "entrants": {}, "status": "LIMIT"},
    ]
    (tmp_path / "public_uai.jsonl").write_text("".join(f"{json.dumps(run)}\n" for run in runs), encoding="utf-8")
    runs = [{**run, "off": off} for run, off in zip(runs, (0.0, 1.0, 5.0), strict=True)]
    (tmp_path / "public_qap.jsonl").write_text("".join(f"{json.dumps(run)}\n" for run in runs), encoding="utf-8")
    uai, permutations = page_tables.races()
    assert uai[1:] == ["score 99.00 on 2 problems", "b: 93.00"]
    assert permutations[1:] == ["the best known value on 1 of 2, 0.50 % off it in the mean", "proved by `auto`: 1"]
