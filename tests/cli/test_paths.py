"""Files looked at before the work, without touching them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dabp.cli.paths import check_answer, check_input, check_output, check_problems, check_target, places
from dabp.errors import FormatError


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


def test_what_cannot_is_told_with_its_name(tmp_path: Path) -> None:
    """Absent, a folder, inside a file, of no known format."""
    (tmp_path / "f").write_text("x")
    for check, place, words in (
        (check_input, tmp_path / "none", "there is no such file"),
        (check_input, tmp_path, "this is a directory"),
        (check_output, tmp_path, "Is a directory"),
        (check_output, tmp_path / "none" / "x", "No such file or directory"),
        (check_output, tmp_path / "f" / "x", "Not a directory"),
    ):
        with pytest.raises(FormatError, match=words) as caught:
            check(place)
        assert str(place) in str(caught.value)
    with pytest.raises(FormatError, match="does not tell the format"):
        check_problems([str(tmp_path / "f")], None)
    with pytest.raises(FormatError, match="does not tell the format"):
        check_target(str(tmp_path / "x.unknown"), None)


def test_places_are_a_file_or_a_folder_of_files(tmp_path: Path) -> None:
    """Named after the problems without their suffixes; standard input has a name, too."""
    assert places(["a.xml", "b.cfn.gz"], None, ".json", "-o") == [None, None]
    assert places(["a.xml"], tmp_path / "x.json", ".json", "-o") == [tmp_path / "x.json"]
    made = places(["in/a.xml", "b.v2.cfn.gz", "-"], tmp_path / "new", ".json", "-o")
    assert [path and path.name for path in made] == ["a.json", "b.v2.json", "stdin.json"]
    assert (tmp_path / "new").is_dir()
    with pytest.raises(FormatError, match="No such file or directory"):
        places(["a.xml", "b.xml"], tmp_path / "none" / "new", ".json", "-o")


def test_an_answer_tells_its_form_or_is_no_plain_file(tmp_path: Path) -> None:
    """Devices and standard output get JSON."""
    for place in (None, "-", "/dev/null", tmp_path / "a.CSV"):
        check_answer(place)
    with pytest.raises(FormatError, match="ends in"):
        check_answer(tmp_path / "a.txt")
