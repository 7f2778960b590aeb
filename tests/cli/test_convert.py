"""``dabp convert``: the same problem in another format."""

from __future__ import annotations

from pathlib import Path

from dabp.formats import read
from tests.cli.conftest import Run
from tests.problems import all_assignments


def test_a_converted_file_is_the_same_problem(run: Run, problem_file: Path, tmp_path: Path) -> None:
    """The costs of all assignments are those of the original."""
    target = tmp_path / "p.cfn"
    assert run("convert", problem_file, target).code == 0
    before, after = read(problem_file), read(target)
    rows = all_assignments(before)
    assert abs(before.cost(rows) - after.cost(rows)).max() < 1e-9


def test_a_suffix_that_says_nothing_is_refused(run: Run, problem_file: Path, tmp_path: Path) -> None:
    """Before anything is written."""
    nameless = problem_file.rename(tmp_path / "p.data")
    assert run("convert", nameless, tmp_path / "p.cfn").code == 2
    assert not (tmp_path / "p.cfn").exists()
