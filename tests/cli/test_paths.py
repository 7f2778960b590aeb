"""Files looked at before the work, without touching them."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

import pytest

import dabp
from dabp.cli.paths import check_answer, check_apart, check_input, check_output, check_problems, check_target, places
from dabp.errors import FormatError, ParameterError
from dabp.formats import write
from tests.cli.conftest import Run


def test_what_can_be_read_or_written_is_left_as_it_is(tmp_path: Path) -> None:
    """No complaint, and no file made."""
    there = tmp_path / "p.wcsp"
    there.write_text("x")
    for check in (check_input, check_output):
        for place in (None, "-", there):
            check(place)
    check_problems([str(there)], None)
    check_target(str(tmp_path / "new.wcsp"), None)
    assert [path.name for path in tmp_path.iterdir()] == ["p.wcsp"]
    assert there.read_text() == "x"


def test_places_are_a_file_or_a_folder_of_files(tmp_path: Path) -> None:
    """Named after the problems without their suffixes; standard input has a name, too."""
    assert places(["a.xml", "b.cfn.gz"], None, ".json", "-o") == [None, None]
    assert places(["a.xml"], tmp_path / "x.json", ".json", "-o") == [tmp_path / "x.json"]
    made = places(["in/a.xml", "b.v2.cfn.gz", "-"], tmp_path / "new", ".json", "-o")
    assert [path and path.name for path in made] == ["a.json", "b.v2.json", "stdin.json"]
    assert (tmp_path / "new").is_dir()
    with pytest.raises(FormatError, match="No such file or directory"):
        places(["a.xml", "b.xml"], tmp_path / "none" / "new", ".json", "-o")


@pytest.mark.posix
def test_an_answer_tells_its_form_or_is_no_plain_file(tmp_path: Path) -> None:
    """Devices and standard output get JSON."""
    for place in (None, "-", "/dev/null", tmp_path / "a.CSV"):
        check_answer(place)
    with pytest.raises(FormatError, match="ends in"):
        check_answer(tmp_path / "a.txt")


@pytest.mark.parametrize(
    "arguments",
    [
        ("solve", "p.cfn", "--trace", "p.cfn"),
        ("solve", "p.cfn", "--trace", "link.jsonl"),
        ("solve", "p.cfn", "-o", "link.json"),
        ("solve", "in.json", "-f", "cfn", "-o", "."),
        ("solve", "p.cfn", "--evidence", "e.csv", "-o", "e.csv"),
        ("solve", "p.cfn", "-o", "new.json", "--trace", "./new.json"),
        ("solve", "p.cfn", "-o", "new.json", "--checkpoint", "new.json"),
        ("convert", "p.cfn", "link.json", "--to", "cfn"),
        ("presolve", "p.cfn", "p.cfn"),
        ("evaluate", "in.json", "e.csv", "-f", "cfn", "-o", "in.json"),
    ],
)
def test_nothing_that_is_read_is_replaced(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    """By no command, under no name of the file; nor is one of two outputs lost to the other."""
    monkeypatch.chdir(tmp_path)
    for name in ("p.cfn", "in.json"):
        write(dabp.generate("random-cop", variables=3, domain=2, seed=1), name, "cfn")
    Path("e.csv").write_text("x0=1\n", encoding="utf-8")
    for name in ("link.json", "link.jsonl"):
        Path(name).symlink_to("p.cfn")
    before = {path.name: path.read_text() for path in tmp_path.iterdir()}
    options = ("-s", "bp", "-i", 2) if arguments[0] == "solve" else ()
    code, out, err = run(*arguments, *options)
    assert (code, out) == (2, "")
    assert "choose another file" in err
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == before


@pytest.mark.posix
def test_files_that_hold_nothing_may_be_written_twice(run: Run, tmp_path: Path) -> None:
    """A device and an answer that is improved in place are no mistakes, nor is one folder for answers and traces."""
    problem, answer = tmp_path / "p.cfn", tmp_path / "a.json"
    write(dabp.generate("random-cop", variables=3, domain=2, seed=1), problem)
    fast = ("-s", "bp", "-i", 2, "-q")
    assert run("solve", problem, *fast, "-o", "/dev/null", "--trace", "/dev/null").code == 0
    assert run("solve", problem, *fast, "-o", answer).code == 0
    assert run("solve", problem, *fast, "--initial", answer, "-o", answer).code == 0
    other = tmp_path / "q.cfn"
    other.write_text(problem.read_text())
    assert run("solve", problem, other, *fast, "-o", tmp_path / "all", "--trace", tmp_path / "all").code == 0
    assert sorted(path.name for path in (tmp_path / "all").iterdir()) == ["p.json", "p.jsonl", "q.json", "q.jsonl"]


@pytest.mark.parametrize(("platform", "refused"), [("linux", False), ("darwin", True), ("win32", True)])
def test_names_that_differ_in_case_are_one_file_on_some_systems(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, platform: str, refused: bool
) -> None:
    """On macOS and Windows an output ``P.CFN`` would replace the input ``p.cfn``."""
    monkeypatch.setattr(sys, "platform", platform)
    with pytest.raises(ParameterError) if refused else contextlib.nullcontext():
        check_apart({"--output": tmp_path / "P.CFN"}, [tmp_path / "p.cfn"])
