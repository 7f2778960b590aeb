"""An answer survives whatever fails beside it, and what cannot work is refused before the solve."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from dabp.driver import solve as solving
from tests.cli.conftest import Run

QUICK = ("--solver", "bp", "--iterations", 5)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two variables and one factor; the best assignment, 1 0, costs 2."""
    path = tmp_path / "two.wcsp"
    path.write_text("two 2 2 1 9\n2 2\n2 0 1 5 4\n0 0 7\n0 1 8\n1 0 2\n1 1 3\n")
    return path


@pytest.fixture
def solves(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the problems that were solved."""
    names: list[str] = []
    solve = solving.solve

    def noting(problem: Any, *arguments: Any, **keywords: Any) -> Any:
        names.append(problem.name)
        return solve(problem, *arguments, **keywords)

    monkeypatch.setattr(solving, "solve", noting)
    return names


@pytest.mark.parametrize("option", ["--output", "--trace", "--checkpoint"])
@pytest.mark.parametrize(
    ("place", "reason"),
    [("nowhere/x", "No such file or directory"), ("two.wcsp/x", "Not a directory"), ("folder", "Is a directory")],
)
def test_an_impossible_place_is_refused_before_solving(
    run: Run, file: Path, solves: list[str], option: str, place: str, reason: str
) -> None:
    """A solve may take hours; where its answer goes is looked at first."""
    (file.parent / "folder").mkdir()
    target = file.parent / place
    code, out, err = run("solve", file, *QUICK, option, target)
    assert (code, out, solves) == (2, "", [])
    assert err == f"dabp: {target}: it cannot be written ({reason})\n"


@pytest.mark.parametrize(
    ("closed", "mode", "options"),
    [
        ("x.json", os.W_OK, ["--output", "x.json"]),
        ("x.json", os.W_OK, ["--trace", "x.json"]),
        (".", os.W_OK, ["--output", "new.json"]),
        (".", os.W_OK, ["--checkpoint", "x.json"]),
        ("two.wcsp", os.R_OK, []),
    ],
)
def test_permissions_are_asked_for_before_solving(
    run: Run, file: Path, solves: list[str], monkeypatch: pytest.MonkeyPatch, closed: str, mode: int, options: list[str]
) -> None:
    """A file that is there must be writable itself, a new one's folder, and a checkpoint's, which is renamed."""
    monkeypatch.chdir(file.parent)
    Path("x.json").write_text("{}")
    # Root may do everything, so the answer of the system is put in its mouth.
    monkeypatch.setattr(os, "access", lambda path, asked: not (asked & mode and str(path) == closed))
    code, out, err = run("solve", "two.wcsp", *QUICK, *options)
    assert (code, out, solves) == (2, "", [])
    assert "Permission denied" in err or "not permitted" in err


@pytest.mark.parametrize(
    ("last", "message"),
    [("nowhere.wcsp", "there is no such file"), ("..", "its name does not tell the format"), ("x.xlsx", "format")],
)
def test_all_files_are_looked_for_before_the_first_is_solved(
    run: Run, file: Path, solves: list[str], last: str, message: str
) -> None:
    """A mistyped last name is told at once."""
    code, out, err = run("solve", file, file, last, *QUICK)
    assert (code, out, solves) == (2, "", [])
    assert err.count("\n") == 1
    assert message in err


def test_answers_before_a_malformed_file_are_shown(run: Run, file: Path, solves: list[str]) -> None:
    """What only reading can tell comes after the answers of the files before it."""
    wrong = file.parent / "wrong.wcsp"
    wrong.write_text("wrong 2 2 1 9\n2 2\n2 0 1 5 4\n0 0\n")
    code, out, err = run("solve", file, file, wrong, *QUICK)
    assert (code, solves) == (2, ["two", "two"])
    assert out.count("two") == 2
    assert err.startswith(f"dabp: {wrong}")
    assert err.count("\n") == 1
    facts = json.loads(run("solve", file, wrong, *QUICK, "--json").out)
    assert [answer["cost"] for answer in facts["results"]] == [2]


@pytest.mark.parametrize("options", [["--output"], ["--trace"], ["--output", "--trace"]])
def test_the_answer_is_shown_when_writing_fails(
    run: Run, file: Path, monkeypatch: pytest.MonkeyPatch, options: list[str]
) -> None:
    """A folder that vanishes during the solve costs the file, not the answer."""
    folder = file.parent / "folder"
    solve = solving.solve

    def vanishing(*arguments: Any, **keywords: Any) -> Any:
        result = solve(*arguments, **keywords)
        folder.rmdir()
        return result

    monkeypatch.setattr(solving, "solve", vanishing)
    words = [word for option in options for word in (option, folder / option)]
    for more in ([], ["--json"]):
        folder.mkdir()
        code, out, err = run("solve", file, *QUICK, *words, *more)
        assert code == 2
        assert err == f"dabp: {folder / options[0]}: it cannot be written (No such file or directory)\n"
        assert (json.loads(out)["cost"] == 2) if more else ("cost            2" in out)


def test_one_file_is_written_though_the_other_fails(run: Run, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A trace that finds the disk full does not keep the solution from being written."""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("dabp.driver.trace.Trace.save", full)
    solution = file.parent / "x.sol"
    code, out, err = run("solve", file, *QUICK, "-o", solution, "--trace", file.parent / "t")
    assert (code, solution.read_text()) == (2, "1 0\n")
    assert "assignment" in out
    assert err == f"dabp: {file.parent / 't'}: it cannot be written (No space left on device)\n"


@pytest.mark.parametrize("suffix", ["sol", "MPE", "json"])
def test_an_infeasible_problem_is_an_answer_whatever_it_is_written_to(run: Run, tmp_path: Path, suffix: str) -> None:
    """Exit code 1 and the status; a file of values is not written, and a note says so; JSON is."""
    path, solution = tmp_path / "none.wcsp", tmp_path / f"x.{suffix}"
    path.write_text("none 1 2 1 5\n2\n1 0 0 2\n0 5\n1 5\n")
    code, out, err = run("solve", path, "--solver", "mbe", "-o", solution)
    assert code == 1
    assert "INFEASIBLE" in out
    if suffix == "json":
        assert json.loads(solution.read_text())["status"] == "INFEASIBLE"
        assert err == ""
    else:
        assert not solution.exists()
        assert err == f"dabp: {solution}: not written, there is no assignment to write (JSON can say so)\n"


@pytest.mark.parametrize(
    "command",
    [
        ["convert", "absent.wcsp", "TARGET"],
        ["presolve", "absent.wcsp", "TARGET"],
        ["generate", "absent", "-o", "TARGET"],
        ["plot", "problem", "absent.wcsp", "-o", "TARGET"],
        ["plot", "trace", "absent.jsonl", "-o", "TARGET"],
        ["plot", "compare", "absent.jsonl", "-o", "TARGET"],
        ["experiment", "table", "absent", "-o", "TARGET"],
        ["experiment", "plot", "absent", "--figure", "memory", "-o", "TARGET"],
        ["experiment", "report", "absent", "-o", "TARGET"],
        ["experiment", "pack", "absent", "-o", "TARGET"],
    ],
    ids=" ".join,
)
def test_other_commands_look_at_their_target_first(run: Run, tmp_path: Path, command: list[str]) -> None:
    """Before they read, reduce or draw anything: with nothing to read, it is still the target they complain of."""
    target = tmp_path / "nowhere" / "x.wcsp"
    code, out, err = run(*[target if word == "TARGET" else word for word in command])
    assert (code, out) == (2, "")
    assert err == f"dabp: {target}: it cannot be written (No such file or directory)\n"


@pytest.mark.parametrize("command", [["convert", "absent.wcsp"], ["presolve", "absent.wcsp"], ["generate", "x", "-o"]])
def test_an_unknown_format_to_write_is_told_first(run: Run, command: list[str]) -> None:
    """Presolve may take minutes; what it cannot write afterwards is known before."""
    code, _, err = run(*command, "x.unknown")
    assert code == 2
    assert err.startswith("dabp: x.unknown: its name does not tell the format")
