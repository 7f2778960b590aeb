"""Answers in the field's own forms."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest

import dabp
from dabp.driver.result import Result
from dabp.errors import FormatError
from dabp.formats.solution import as_pydcop, holds_values_only, read_solution, write_assignment, write_solution
from dabp.problem import Label, Problem
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
        None if assignment is None else _PROBLEM.names.labelled(assignment),
    )


@pytest.mark.parametrize("suffix", [".json", ".sol", ".MPE", ".csv", ".json.gz"])
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
        "variable;value\r\na;yes\r\nb c;2\r\nd;1.5\r\n",
        '\ufeffvariable,value\n"a","yes"\n"b c",2\nd,1.5',
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


def test_several_answers_are_written_as_json(tmp_path: Path) -> None:
    """In their order; the first is read where one is expected, and files of values are refused."""
    path = tmp_path / "a.json"
    write_solution([_result([1, 2, 0]), _result(None)], _PROBLEM, path)
    assert [each["assignment"] is None for each in json.loads(path.read_text())["solutions"]] == [False, True]
    assert read_solution(path, _PROBLEM).tolist() == [1, 2, 0]
    with pytest.raises(FormatError, match=r"a\.sol: several answers are written as \.json"):
        write_solution([_result([1, 2, 0])], _PROBLEM, tmp_path / "a.sol")


@pytest.mark.parametrize(
    ("name", "expected"),
    [("a.sol", True), ("a.MPE", True), ("a.sol.gz", True), ("a.csv", True), ("a.json", False), ("-", False)],
)
def test_which_files_hold_values_only(name: str, expected: bool) -> None:
    """Who writes files can ask before whether the form has room for an answer without values."""
    assert holds_values_only(name) is expected


@pytest.mark.parametrize("name", ["a", "a.txt", "a.csv.zip"])
def test_a_name_of_no_known_form_is_refused(name: str, tmp_path: Path) -> None:
    """Nobody looks for JSON in a .txt."""
    with pytest.raises(FormatError, match=r"ends in \.json"):
        write_solution(_result([1, 2, 0]), _PROBLEM, tmp_path / name)
    assert not (tmp_path / name).exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("variable,value\na\n", "1 fields found"),
        ("variable,value\na,yes\na,no\n", "two values"),
        ('variable,value\na,"yes\n', "not a table"),
        ("variable,value\na,yes\n", "no value for 'b c'"),
        ("variable,value\nz,yes\n", "no variable 'z'"),
    ],
)
def test_a_wrong_table_is_one_sentence(text: str, words: str, tmp_path: Path) -> None:
    """With the file's name."""
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FormatError, match=words) as caught:
        read_solution(tmp_path / "a.csv", _PROBLEM)
    assert str(tmp_path / "a.csv") in str(caught.value)


@pytest.mark.parametrize(
    "labels",
    [
        (False, True),
        (np.int64(3), np.int64(7)),
        (np.bool_(False), np.bool_(True)),
        (np.float32(0.5), np.float64(2.5)),
        (np.str_("a"), "b"),
        ("True", "False"),
    ],
    ids=["bool", "int64", "bool_", "float", "str_", "text"],
)
@pytest.mark.parametrize("name", ["assignment", "status", "x"])
def test_our_own_answer_is_read_back(labels: tuple[Label, ...], name: str, tmp_path: Path) -> None:
    """Whatever a variable is called, and whatever NumPy made its labels of."""
    problem = Problem([2, 2], labels=[labels, None], variable_names=[name, "other"])
    for values in ([1, 0], [0, 1]):
        assignment = np.array(values)
        answer = Result(assignment, 0.0, Status.LIMIT, None, 1, 0.1, 0, "bp", problem.names.labelled(assignment))
        write_solution(answer, problem, tmp_path / "a.json")
        assert read_solution(tmp_path / "a.json", problem).tolist() == values


def test_truth_is_no_number() -> None:
    """JSON's true is not the label 1."""
    with pytest.raises(FormatError, match="the value of 'b c' is true, its labels are others"):
        read_solution(io.StringIO('{"a": "yes", "b c": true, "d": 1.5}'), _PROBLEM)


def test_a_mapping_of_a_variable_named_assignment() -> None:
    """What stands there distinguishes a plain mapping from our own answer."""
    problem = Problem([2], labels=[("u", "v")], variable_names=["assignment"])
    assert read_solution(io.StringIO('{"assignment": "v"}'), problem).tolist() == [1]
    assert read_solution(io.StringIO('{"assignment": {"assignment": "v"}}'), problem).tolist() == [1]


def test_a_table_computes_nothing(tmp_path: Path) -> None:
    """Spreadsheets take no name or label for a formula, and all come back, those with apostrophes too."""
    labels = ("=1+1", "+a", "-b", "@c", "'=d", "'e", "-5", "\t=f", "g=h")
    problem = Problem([9], variable_names=["=x"], labels=[labels])
    for value in range(9):
        write_assignment(np.array([value]), problem, tmp_path / "a.csv")
        assert read_solution(tmp_path / "a.csv", problem).tolist() == [value]
        for field in (tmp_path / "a.csv").read_text().splitlines()[1].split(","):
            assert field.strip('"')[0] not in "=+@\t-" or field == "-5"


def test_a_table_holds_every_label(tmp_path: Path) -> None:
    """Whatever is in a name or a value: commas, quotes, all kinds of line breaks."""
    odd = ("a\rb", "a\nb", 'a"b', "a,b", "a;b", " a ")
    problem = Problem([6, 6], variable_names=("x\ry", "z,"), labels=[odd, odd])
    for value in range(6):
        write_assignment(np.array([value, value]), problem, tmp_path / "a.csv")
        assert read_solution(tmp_path / "a.csv", problem).tolist() == [value, value]


@pytest.mark.parametrize(
    ("status", "limit", "word"),
    [
        (Status.LIMIT, "time limit", "TIMEOUT"),
        (Status.LIMIT, "iteration limit", "FINISHED"),
        (Status.OPTIMAL, None, "FINISHED"),
        (Status.INTERRUPTED, None, "STOPPED"),
    ],
)
def test_pydcop_answers(status: Status, limit: str | None, word: str) -> None:
    """The keys that pyDCOP's ``solve`` prints, sorted as there; without an answer cost and violation are null."""
    answer = Result(np.array([1, 2, 0]), 3.0, status, None, 7, 0.5, 0, "mgm", limit=limit, messages=8, message_size=9)
    facts = json.loads(as_pydcop(answer, _PROBLEM))
    assert list(facts.items()) == [
        ("agt_metrics", {}),
        ("assignment", {"a": "yes", "b c": 2, "d": 1.5}),
        ("cost", 3.0),
        ("cycle", 7),
        ("msg_count", 8),
        ("msg_size", 9),
        ("status", word),
        ("time", 0.5),
        ("violation", 0),
    ]
    none = json.loads(as_pydcop(Result(None, None, status, None, 3, 0.5, 0, "bp", limit=limit), _PROBLEM))
    assert (none["assignment"], none["cost"], none["violation"], none["status"]) == ({}, None, None, word)


def test_a_model_is_the_problem_that_it_builds(tmp_path: Path) -> None:
    """Files of a problem and of its answers are written and read with the model that was solved."""
    model = dabp.Model("m")
    model.add_variables(["a", "b"], ["no", "yes"])
    model.forbid(["a", "b"], lambda a, b: a == b)
    result = dabp.solve(model, "bp", max_iterations=3)
    dabp.write(model, tmp_path / "m.cfn")
    dabp.write_solution(result, model, tmp_path / "m.csv")
    assert read_solution(tmp_path / "m.csv", model).tolist() == list(result.assignment)
    again = dabp.read(tmp_path / "m.cfn")
    assert [again.cost([a, b]) for a in (0, 1) for b in (0, 1)] == [np.inf, 0, 0, np.inf]
