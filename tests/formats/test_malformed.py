"""Files that are wrong are refused with one line that says where and why."""

from __future__ import annotations

from pathlib import Path

import pytest

from dabp.errors import FormatError
from dabp.formats import read

_DATA = Path(__file__).parents[1] / "data"


def _expected() -> list[tuple[str, int | None, str]]:
    """File, line and the beginning of the sentence, a row of a table for each."""
    rows = [row.split("\t") for row in (_DATA / "malformed_expected.tsv").read_text(encoding="utf-8").splitlines()]
    return [(name, int(line) if line else None, reason) for name, line, reason in rows]


@pytest.mark.parametrize(("name", "line", "reason"), _expected())
def test_reason_and_place(name: str, line: int | None, reason: str) -> None:
    """The message is one line: the file, the line (unless the file is not even text) and what is wrong there."""
    path = _DATA / "malformed" / name
    with pytest.raises(FormatError) as caught:
        read(path)
    assert caught.value.line == line
    text = str(caught.value)
    assert text.startswith(f"{path}:{line}: {reason}" if line is not None else f"{path}: {reason}")
    assert "\n" not in text
    assert text.isprintable()


def test_every_malformed_file_is_in_the_table() -> None:
    """No file in the folder goes untested."""
    assert {path.name for path in (_DATA / "malformed").iterdir()} == {name for name, _, _ in _expected()}
