"""What a person sees: numbers, names as they are whatever Rich would make of them, one live line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dabp.cli.display import LiveDisplay, number
from dabp.driver.stopping import Progress
from tests.cli.conftest import Run
from tests.cli.terminal import NAMES, named_file, terminal


@pytest.mark.parametrize("name", NAMES)
def test_tables_show_names_as_they_are(run: Run, tmp_path: Path, name: str) -> None:
    """In the summary of one problem, the table of several and the table of an evaluation."""
    file, solution = named_file(tmp_path, name), tmp_path / "s.json"
    values = json.loads(run("solve", file, "-s", "bp", "-i", 5, "-o", solution, "--json").out)
    problem, (variable, label) = values["problem"], next(iter(values["assignment"].items()))
    assert name.strip("\\") in problem
    summary = run("solve", file, "-s", "bp", "-i", 5)
    assert f"{problem} (2 variables" in summary.out
    assert f"{variable}={label}" in summary.out
    assert run("solve", file, file, "-s", "bp", "-i", 5).out.count(f" {problem} ") == 2
    evaluation = run("evaluate", file, solution)
    assert evaluation.code == 0
    assert f" f{problem[1:]} " in evaluation.out
    assert f"{variable}={label}, b=" in evaluation.out


@pytest.mark.parametrize("name", NAMES)
def test_the_live_line_shows_names_as_they_are(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """What members of a portfolio record is text, too."""
    screen = terminal(monkeypatch)
    with LiveDisplay(None, verbose=True) as display:
        display(Progress(records=[{"member": name, "move": name}]))
    assert screen.getvalue().count(name) >= 2


def test_numbers_are_short_and_unknown_ones_a_dash() -> None:
    """Whole costs without decimals, however they are kept."""
    assert [number(value) for value in (None, 3.0, -0.0, 0.5, 1234567.0)] == ["–", "3", "-0", "0.5", "1234567"]


def test_nothing_is_drawn_where_nobody_looks(capsys: pytest.CaptureFixture[str]) -> None:
    """Without a terminal the live line is silent."""
    with LiveDisplay(10.0) as display:
        display.compiling()
        display(Progress(records=[]))
    assert capsys.readouterr() == ("", "")


def test_quiet_draws_nothing_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """--quiet is for terminals."""
    screen = terminal(monkeypatch)
    with LiveDisplay(10.0, quiet=True) as display:
        display(Progress(records=[]))
    assert screen.getvalue() == ""
