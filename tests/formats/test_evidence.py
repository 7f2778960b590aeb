"""Evidence by index and by name, in a file or as text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from dabp.errors import FormatError
from dabp.formats.evidence import is_text, read_evidence
from dabp.problem import Problem

_PROBLEM = Problem([2, 3, 2], labels=[("no", "yes"), None, (1.5, 2.5)], variable_names=["a", "b c", "d"], name="p")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2 0 1 2 1", {0: 1, 2: 1}),
        ("1\n2 0 1 2 1\n", {0: 1, 2: 1}),
        ("0", {}),
        ("1 0", {}),
        ("", {}),
        ("1 1 2", {1: 2}),
    ],
)
def test_evidence(text: str, expected: dict[int, int]) -> None:
    """With and without a number of samples; an empty file is no evidence."""
    assert read_evidence(io.StringIO(text), _PROBLEM) == expected


@pytest.mark.parametrize("text", ["2 0 1", "0.5 1", "1 5 0", "1 0 7", "2 0 1 0 0", "1 0 x", "1.5 0 1", "-1"])
def test_wrong_evidence(text: str) -> None:
    """Evidence that does not fit the problem is refused."""
    with pytest.raises(FormatError):
        read_evidence(io.StringIO(text), _PROBLEM)


@pytest.mark.parametrize(
    "text",
    ["a=yes, b c=2", "a = yes\n# what else\nb c = 2\n", '{"a": "yes", "b c": 2}', "a=1;1=2", "0=yes;b c=2;a=yes"],
)
def test_evidence_by_name(text: str) -> None:
    """Names of variables and values, or indices where there is no such name; the same twice is once."""
    assert read_evidence(io.StringIO(text), _PROBLEM) == {0: 1, 1: 2}
    if not text.startswith("{"):
        assert read_evidence(text, _PROBLEM) == {0: 1, 1: 2}


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a=maybe", "variable 'a' has no value 'maybe'"),
        ("a=yes\nz=1", ":2: there is no variable 'z'"),
        ("a=yes,b", "evidence is variable=value, not 'b'"),
        ("a=yes,a=no", "variable 'a' has two values"),
        ("3=1", "there is no variable '3'"),
        ("d=2", "variable 'd' has no value '2'"),
        ('{"a": [1]}', "neither text nor a number"),
        ('{"a": true}', "neither text nor a number"),
        ("{", "this is not JSON"),
    ],
)
def test_wrong_evidence_by_name(text: str, reason: str) -> None:
    """One sentence with the line, where there are several."""
    with pytest.raises(FormatError, match=reason):
        read_evidence(io.StringIO(text), _PROBLEM)


@pytest.mark.parametrize("text", ["a=maybe", "z=1"])
def test_evidence_in_an_option_names_itself(text: str) -> None:
    """There is no file and no line to name."""
    with pytest.raises(FormatError, match=f"^evidence '{text}': "):
        read_evidence(text, _PROBLEM)


def test_files_come_first(tmp_path: Path) -> None:
    """A file whose name has an equals sign is a file."""
    path = tmp_path / "a=no"
    path.write_text("a=yes")
    assert not is_text(str(path))
    assert read_evidence(str(path), _PROBLEM) == {0: 1}
