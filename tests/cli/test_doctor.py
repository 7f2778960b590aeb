"""``dabp doctor``: what is here is told with its version, what is missing fails."""

from __future__ import annotations

import importlib.metadata
import sys
from pathlib import Path

import pytest

import dabp
from tests.cli.conftest import Run


def test_a_sound_machine_has_no_failure(run: Run) -> None:
    """Each line is ok, and versions are those that are installed."""
    code, out, _ = run("doctor")
    lines = {line.split()[1]: line for line in out.splitlines()}
    assert code == 0
    assert all(line.startswith("ok") for line in lines.values())
    assert importlib.metadata.version("numpy") in lines["numpy"]
    assert dabp.__version__ in lines["dabp"]


def test_what_is_broken_is_told_and_ends_with_1(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder that was removed cannot be written to, and toulbar2 does not load: each is one failed line."""
    place = tmp_path / "gone"
    place.mkdir()
    monkeypatch.chdir(place)
    place.rmdir()
    monkeypatch.setitem(sys.modules, "pytoulbar2", None)
    code, out, _ = run("doctor")
    assert code == 1
    assert [line.split()[1] for line in out.splitlines() if line.startswith("FAIL")] == ["pytoulbar2", "write"]
