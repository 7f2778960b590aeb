"""``dabp convert``: the same problem in another format."""

from __future__ import annotations

from pathlib import Path

import pytest

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


@pytest.mark.parametrize("command", ["convert", "presolve"])
def test_standard_output_is_xml_unless_told(run: Run, problem_file: Path, command: str) -> None:
    """As the help says."""
    assert run(command, problem_file, "-").out.startswith("<?xml")
    assert "<instance>" not in run(command, problem_file, "-", "--to", "cfn").out


@pytest.mark.parametrize("command", ["info", "explain", "convert", "presolve", "evaluate"])
@pytest.mark.parametrize(("name", "words"), [("", "this is a folder, not a file"), ("none.xyz", "no such file")])
def test_what_is_no_file_is_said_before_its_format(
    run: Run, tmp_path: Path, command: str, name: str, words: str
) -> None:
    """Thirty suffixes help nobody who named a folder or misspelt a name."""
    (solution := tmp_path / "a.sol").write_text("0")
    more = {"explain": ["--conflict"], "evaluate": [solution]}.get(command, [tmp_path / "p.cfn"])
    code, _, err = run(command, tmp_path / name, *(more if command != "info" else []))
    assert (code, words in err, ".wcsp" in err) == (2, True, False)


def test_a_folder_is_no_target(run: Run, problem_file: Path, tmp_path: Path) -> None:
    """Nor is it a file of unknown format."""
    assert "Is a directory" in run("convert", problem_file, tmp_path).err
