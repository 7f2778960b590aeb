"""A file whose name does not tell is known by its content."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dabp.formats import read

_GOOD = Path(__file__).parents[1] / "data" / "good"
_TOLD_APART = [path for path in sorted(_GOOD.iterdir()) if path.suffix not in (".LG", ".bq")]  # as .uai and .mc


@pytest.mark.parametrize("path", _TOLD_APART, ids=lambda path: path.name)
def test_every_format(path: Path, tmp_path: Path) -> None:
    """A good file is read the same under the name of a text file."""
    copy = tmp_path / "copy.txt"
    copy.write_bytes(path.read_bytes())
    expected = read(path)
    assert read(copy).replace(name=expected.name) == expected


def test_a_named_format_counts_more() -> None:
    """Who names the format is believed."""
    stream = io.StringIO("2 1\n1 2 3\n")
    stream.name = "a.txt"
    assert not read(stream, "bq").maximize
