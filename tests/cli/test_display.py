"""What a person sees: numbers, names as they are whatever Rich would make of them, one live line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import dabp
from dabp.cli.display import LiveDisplay, number, print_comparison, print_summary
from dabp.cli.evaluate import _print as print_factors
from dabp.cli.info import _print as print_facts
from dabp.cli.info import describe
from dabp.driver.stopping import Progress
from dabp.problem.shown import shown
from tests.cli.conftest import Run
from tests.cli.terminal import HARMFUL, NAMES, named_file, named_problem, terminal


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


@pytest.mark.parametrize("name", HARMFUL)
def test_names_cannot_harm_a_terminal(capsys: pytest.CaptureFixture[str], name: str) -> None:
    """What a terminal would obey is written out; nothing breaks a line or its direction."""
    problem = named_problem(name)
    result = dabp.solve(problem, "bp", max_iterations=5)
    print_summary(problem, result)
    print_comparison([(problem, result), (problem, result)])
    print_factors(problem.name, 1.0, 0, problem.explain(result.assignment))
    print_facts(describe(problem))
    lines = capsys.readouterr().out.splitlines()
    assert all(shown(line) == line for line in lines)
    assert sum(shown(f"p{name}") in line for line in lines) == 5
    assert sum(shown(f"f{name}") in line for line in lines) == 1


@pytest.mark.parametrize("name", HARMFUL)
def test_names_cannot_harm_in_complaints(run: Run, problem_file: Path, name: str) -> None:
    """One line, whatever was typed."""
    code, _, err = run("solve", problem_file, "-s", "bp", "--fix", f"{name}=1")
    assert (code, err.count("\n")) == (2, 1)
    assert shown(err[:-1]) == err[:-1]


@pytest.mark.parametrize("name", HARMFUL)
def test_the_live_line_obeys_no_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Only Rich's own escapes reach the terminal."""
    screen = terminal(monkeypatch)
    with LiveDisplay(None, verbose=True) as display:
        display(Progress(records=[{"member": name, "move": name}]))
    if "<" not in name:
        assert name not in screen.getvalue()
    assert shown(name) in screen.getvalue()


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
