"""A share of the reproductions, those that take no time; ``make defects`` runs all."""

from __future__ import annotations

from pathlib import Path

import pytest

from checks.defects import reproductions
from checks.defects.__main__ import described


def test_there_is_a_program_for_each() -> None:
    """Sixteen were found, and each says what it was."""
    assert sorted(described()) == list(range(1, 17))
    assert all(described().values())


@pytest.mark.parametrize("number", [6, 8, 13, 14])
def test_readers_do_what_they_did_not(number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files that 0.1.0 misread, or took long to refuse."""
    if number == 8:
        pytest.importorskip("pandas")
    monkeypatch.chdir(tmp_path)
    getattr(reproductions, f"d{number:02}")()
