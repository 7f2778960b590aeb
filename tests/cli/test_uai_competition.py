"""The calling convention of the UAI competitions."""

from __future__ import annotations

from pathlib import Path

import pytest

from dabp.formats import read
from dabp.formats.solution import read_solution
from tests.cli.conftest import Run
from tests.problems import all_assignments

_MODEL = "MARKOV\n3\n2 2 2\n3\n1 0\n2 0 1\n2 1 2\n2\n0.9 0.1\n4\n0.2 0.8 0.7 0.3\n4\n0.5 0.5 0.1 0.9\n"


def test_result_file(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """MODEL.MPE in the current folder holds the most probable explanation that agrees with the evidence."""
    model, evidence = tmp_path / "models" / "m.uai", tmp_path / "m.evid"
    model.parent.mkdir()
    model.write_text(_MODEL)
    evidence.write_text("1 1 0\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INF_TIME", "20")
    assert run("uai", model, evidence, "none", "MPE") == (0, "", "")
    problem = read(model)
    found = read_solution(tmp_path / "m.uai.MPE", problem)
    agreeing = [row for row in all_assignments(problem) if row[1] == 0]
    assert problem.cost(found) == pytest.approx(min(problem.cost(row) for row in agreeing))
    assert found[1] == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.evid", "m.uai.MPE", "models"]


def test_other_tasks_and_settings(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is not supported is said in one line."""
    assert run("uai", "m", "e", "q", "PR") == (2, "", "dabp: the task is MPE, not 'PR'; no other is supported\n")
    monkeypatch.setenv("INF_TIME", "soon")
    assert run("uai", "m", "e", "q", "MPE") == (2, "", "dabp: INF_TIME is a positive number, not 'soon'\n")
