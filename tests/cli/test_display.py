"""What a person sees after a solve: names as they are, whatever Rich would make of them, and why it ended."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.terminal import NAMES, named_file


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


def test_the_summary_says_which_limit_ended_it(run: Run, problem_file: Path) -> None:
    """In words for people, as a key in JSON, null if none did."""
    assert "LIMIT: the iteration limit was reached" in run("solve", problem_file, "-s", "dsa", "-i", 5).out
    assert json.loads(run("solve", problem_file, "-s", "dsa", "-i", 5, "--json").out)["limit"] == "iteration limit"
    assert json.loads(run("solve", problem_file, "-s", "mbe", "--json").out)["limit"] is None
