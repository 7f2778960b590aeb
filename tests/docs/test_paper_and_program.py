"""docs/paper-and-program.md names files and functions that exist, and leaves no equation out."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "paper-and-program.md").read_text(encoding="utf-8")
ROWS = [[cell.strip() for cell in line.split("|")[1:-1]] for line in PAGE.splitlines() if line.startswith("| ")]
PLACES = [row for row in ROWS if row[-2].startswith("`")]


def test_each_row_names_a_file_that_holds_the_name():
    """A reader who follows a row finds what it says."""
    for row in PLACES:
        file, name = (cell.strip("`") for cell in row[-2:])
        source = (ROOT / "src" / "dabp" / file).read_text(encoding="utf-8")
        assert re.search(rf"\b{name}\b", source), row


def test_every_equation_has_a_row():
    """Eq. 1 to 16 of the paper."""
    named = {int(number) for row in PLACES for number in re.findall(r"\d+", row[0]) if row[0].startswith("Eq.")}
    assert named == set(range(1, 17))


def test_table_rows_have_six_cells():
    """A stray bar would move a name into another column."""
    assert {len(row) for row in ROWS} == {6}
