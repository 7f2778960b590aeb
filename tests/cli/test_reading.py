"""The bar that shows how far a large file is read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import dabp
from dabp.cli.options import read_problem
from dabp.cli.reading import ReadingBar
from dabp.formats import large
from tests.cli.terminal import NAMES, terminal


@pytest.mark.parametrize("name", ["plain", *NAMES[:1], "\x1b[2Jx"])
def test_a_large_file_is_read_with_a_bar(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """In a terminal, with the file's name as it is safe to show; the answer is the same."""
    monkeypatch.setattr(large, "LARGE", 1)
    folder = tmp_path / name.replace("/", "-")
    folder.mkdir()
    path = folder / "x.wcsp"
    problem = dabp.generate("random-cop", variables=20, domain=3, density=0.5, seed=0)
    dabp.write(problem, path)
    screen = terminal(monkeypatch)
    assert read_problem(str(path), None, None, None).num_factors == problem.num_factors
    assert "reading" in screen.getvalue()
    assert "\x1b[2Jx" not in screen.getvalue()


def test_no_terminal_no_bar(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Pipes and files get nothing of it, and a program without standard error reads all the same."""
    with ReadingBar("x") as bar:
        bar(1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys, "stderr", None)
    with ReadingBar("x") as bar:
        bar(1, 2)
