"""Answers in the field's own forms."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

from dabp.driver.result import Result
from dabp.errors import FormatError
from dabp.formats.solution import holds_values_only, read_solution, write_solution
from dabp.problem import Problem
from dabp.solvers.status import Status

_PROBLEM = Problem([2, 3, 2], labels=[("no", "yes"), None, (1.5, 2.5)], variable_names=["a", "b c", "d"], name="p")


def _result(values: list[int] | None) -> Result:
    assignment = None if values is None else np.array(values)
    return Result(
        assignment,
        None if values is None else 0.0,
        Status.LIMIT,
        None,
        1,
        0.1,
        0,
        "bp",
        None if assignment is None else _PROBLEM.labelled(assignment),
    )


@pytest.mark.parametrize("suffix", [".json", ".sol", ".MPE", ".json.gz"])
def test_there_and_back(suffix: str, tmp_path: Path) -> None:
    """What is written is read again as the same assignment."""
    path = tmp_path / f"answer{suffix}"
    write_solution(_result([1, 2, 0]), _PROBLEM, path)
    assert read_solution(path, _PROBLEM).tolist() == [1, 2, 0]


def test_forms(tmp_path: Path) -> None:
    """The files are what toulbar2, the UAI competitions and JSON readers expect."""
    for suffix in ("sol", "MPE", "json"):
        write_solution(_result([1, 2, 0]), _PROBLEM, tmp_path / f"a.{suffix}")
    assert (tmp_path / "a.sol").read_text() == "1 2 0\n"
    assert (tmp_path / "a.MPE").read_text() == "MPE\n3 1 2 0\n"
    assert json.loads((tmp_path / "a.json").read_text())["assignment"] == {"a": "yes", "b c": 2, "d": 1.5}


@pytest.mark.parametrize(
    "text",
    [
        '{"a": "yes", "b c": 2, "d": 1.5}',
        "[1, 2, 0]",
        "MPE 1 3 1 2 0",
        "MPE\n3 0 0 0\n-BEGIN-\n3 1 2 0\n",
        "1 2 0",
    ],
)
def test_other_forms(text: str) -> None:
    """Plain mappings and lists, the variant with a number of samples, and appended better answers are read, too."""
    assert read_solution(io.StringIO(text), _PROBLEM).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 2", "3 values were expected, 2 found"),
        ("1 2 2", "variable 'd' has values 0..1, 2 found"),
        ("1 x 0", "a value index was expected, 'x' found"),
        ("MPE 2 0 0", "the number of variables"),
        ('{"a": "maybe", "b c": 2, "d": 1.5}', "variable 'a' has no value 'maybe'"),
        ('{"a": "yes"}', "the assignment has no value for 'b c'"),
        ('{"a": [1], "b c": 2, "d": 1.5}', "neither text nor a number"),
        ('{"assignment": null}', "none was found"),
        ("{", "this is not JSON"),
        ("[" * 100_000, "this is not JSON"),
        ("[1.5, 2, 0]", "a list of value indices"),
        (" ", ":1: the file is empty"),
        ("\ufeff", ":1: the file is empty"),
        ("\u3000\n", ":1: the file is empty"),
    ],
)
def test_wrong_answers(text: str, reason: str) -> None:
    """An answer that does not fit the problem is refused with what does not fit."""
    with pytest.raises(FormatError, match=reason):
        read_solution(io.StringIO(text), _PROBLEM)


def test_no_answer(tmp_path: Path) -> None:
    """Only JSON can say that nothing was found."""
    write_solution(_result(None), _PROBLEM, tmp_path / "a.json")
    assert json.loads((tmp_path / "a.json").read_text())["assignment"] is None
    with pytest.raises(FormatError, match="there is no assignment to write"):
        write_solution(_result(None), _PROBLEM, tmp_path / "a.sol")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.sol", True), ("a.MPE", True), ("a.sol.gz", True), ("a.json", False), ("a", False), ("-", False)],
)
def test_which_files_hold_values_only(name: str, expected: bool) -> None:
    """Who writes files can ask before whether the form has room for an answer without values."""
    assert holds_values_only(name) is expected
