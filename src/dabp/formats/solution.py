"""Answers in and out: our JSON, toulbar2's ``.sol``, the UAI competition's ``.MPE`` and ``.csv``.

docs/formats/solutions.md shows each.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from dabp.errors import FormatError, ProblemError, named_keywords
from dabp.formats.numerals import NUMBER
from dabp.formats.text import Place, Source, open_source, place_name, split_suffix
from dabp.problem import Assignment, Label, Problem

if TYPE_CHECKING:
    from dabp.problem.model import Model

_CSV_HEADER = ["variable", "value"]
_FORMULA = re.compile(r"'*[=+\-@\t\r]")  # how a text starts that spreadsheets compute


class Answer(Protocol):
    """What is written of a `dabp.Result`."""

    @property
    def assignment(self) -> Assignment | None:
        """Value indices, [N]; None if no assignment was found."""

    def to_dict(self, problem: Problem) -> dict[str, Any]:
        """Every fact of the answer as JSON values."""


@named_keywords
def read_solution(place: Place, problem: Problem | Model) -> Assignment:
    """The assignment in a solution file; its content decides on the form, not its name."""
    from dabp.formats import built

    problem = built(problem)
    source = open_source(place)
    whole = source.text()
    text = whole.strip()
    if not text:  # a byte order mark, or spaces of other scripts
        raise source.empty()
    for mark in ",;":  # spreadsheets of countries with a decimal comma write semicolons
        if text.partition("\n")[0].strip().replace('"', "") == mark.join(_CSV_HEADER):
            return _from_csv(source, whole, problem, mark)
    if text[0] in "{[":
        return _from_json(source, text, problem)
    words = text.split()
    if words[0].upper() in ("MPE", "MAP"):
        return _from_mpe(source, words, problem)
    return _from_sol(source, words, problem)


@named_keywords
def write_solution(result: Answer | Sequence[Answer], problem: Problem | Model, place: Place) -> None:
    """Write an answer; the suffix decides: ``.json``, ``.sol``, ``.MPE`` or ``.csv``. A list of answers needs JSON."""
    from dabp.formats import built

    problem = built(problem)
    if isinstance(result, Sequence):
        check_several(place)
        _write_json({"solutions": [each.to_dict(problem) for each in result]}, place)
    elif not holds_values_only(place):
        _write_json(result.to_dict(problem), place)
    elif result.assignment is None:
        raise FormatError("there is no assignment to write; only JSON can say so", source=place_name(place))
    else:
        write_assignment(result.assignment, problem, place)


def write_assignment(assignment: Assignment, problem: Problem, place: Place) -> None:
    """Write an assignment of which nothing but its values is known; the suffix decides as for `write_solution`."""
    from dabp.formats import write_text

    if not holds_values_only(place):
        cost = problem.cost(assignment)
        facts = {"problem": problem.name, "cost": cost if np.isfinite(cost) else None}
        _write_json({**facts, "assignment": problem.names.named(assignment)}, place)
        return
    seen = problem.auxiliaries.visible(problem.names.checked(assignment))
    write_text(place, [_VALUES_ONLY[split_suffix(place_name(place))[0]](seen, problem)])


def plain(value: object) -> object:
    """What JSON can say of a label that is neither text nor a number of Python's own."""
    return value.item() if isinstance(value, np.generic) else str(value)


def holds_values_only(place: Place) -> bool:
    """Whether a solution file of this name can contain values only, and not say that there are none.

    A name that tells no form of answers is refused; streams, standard output and devices get JSON.
    """
    suffix = split_suffix(place_name(place))[0]
    if suffix in _VALUES_ONLY:
        return True
    if suffix != ".json" and isinstance(place, str | os.PathLike):
        path = os.fspath(place)
        if path != "-" and (os.path.isfile(path) or not os.path.exists(path)):
            raise FormatError("an answer's name ends in .json, .sol, .MPE or .csv", source=place_name(place))
    return False


def check_several(place: Place) -> None:
    """Raise `FormatError` if a file of this name cannot contain several answers."""
    if holds_values_only(place):
        raise FormatError("several answers are written as .json", source=place_name(place))


def _write_json(facts: dict[str, Any], place: Place) -> None:
    from dabp.formats import write_text

    write_text(place, [json.dumps(facts, indent=2, ensure_ascii=False, default=plain) + "\n"])


def as_pydcop(result: Answer, problem: Problem) -> str:
    """One JSON object with the keys of pyDCOP's ``solve`` in its order; what is unknown is null (docs/formats/yaml.md).

    An answer violates nothing, and there are no agents to measure. Only a time limit is a timeout to pyDCOP.
    """
    facts = result.to_dict(problem)
    status = "TIMEOUT" if facts["limit"] == "time limit" else "FINISHED"
    answer = {
        "agt_metrics": {},
        "assignment": facts["assignment"] or {},
        "cost": facts["cost"],
        "cycle": facts["iterations"],
        "msg_count": facts["messages"],
        "msg_size": facts["message_size"],
        "status": "STOPPED" if facts["status"] == "INTERRUPTED" else status,
        "time": facts["runtime"],
        "violation": None if facts["assignment"] is None else 0,
    }
    return json.dumps(answer, indent=2, allow_nan=False, default=plain) + "\n"


def as_mpe(assignment: Assignment) -> str:
    """The text of a UAI result file."""
    return "MPE\n" + " ".join(map(str, [len(assignment), *assignment.tolist()])) + "\n"


def as_sol(assignment: Assignment) -> str:
    """The text of a toulbar2 solution file: value indices in the order of the variables."""
    return " ".join(map(str, assignment.tolist())) + "\n"


def as_csv(assignment: Assignment, problem: Problem) -> str:
    """A table of variables and labels, for spreadsheets: text that they would compute starts with an apostrophe."""
    text = io.StringIO()
    rows: list[list[Label]] = [list(_CSV_HEADER)]
    rows += [[_inert(field) for field in row] for row in problem.names.named(assignment).items()]
    turns = any("\r" in str(field) for row in rows for field in row)  # which csv does not quote by itself
    table = csv.writer(text, lineterminator="\n", quoting=csv.QUOTE_ALL if turns else csv.QUOTE_MINIMAL)
    table.writerows(rows)
    return text.getvalue()


def _inert(field: Label) -> Label:
    formula = isinstance(field, str) and _FORMULA.match(field) and not NUMBER.fullmatch(field)
    return f"'{field}" if formula else field


_VALUES_ONLY: dict[str, Callable[[Assignment, Problem], str]] = {
    ".sol": lambda assignment, _: as_sol(assignment),
    ".mpe": lambda assignment, _: as_mpe(assignment),
    ".csv": as_csv,
}
"""Suffixes of files that contain an assignment and nothing else, and their content."""


def _from_csv(source: Source, text: str, problem: Problem, mark: str) -> Assignment:
    values: dict[str, Label] = {}
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=mark, strict=True)
    try:
        next(rows)
        for row in rows:
            if len(row) not in (0, 2):
                raise source.error(f"a variable and its value were expected, {len(row)} fields found", rows.line_num)
            name, value = (each[each[:1] == "'" and _FORMULA.match(each) is not None :] for each in row or ("", ""))
            if row and values.setdefault(name, value) != value:
                raise source.error(f"variable {name!r} has two values", rows.line_num)
    except csv.Error as error:
        raise source.error(f"this is not a table of values ({error})", rows.line_num) from None
    return _labels(source, values, problem)


def _from_json(source: Source, text: str, problem: Problem) -> Assignment:
    content = source.json(text)
    if isinstance(content, dict) and isinstance(solutions := content.get("solutions"), list) and solutions:
        content = solutions[0]  # of several answers the first
    if isinstance(content, dict) and not isinstance(content.get("assignment", 0), str | int | float):
        content = content["assignment"]  # a variable of that name has a label there, which is no mapping
    if content is None:
        raise source.error("the solution has no values: none was found")
    if isinstance(content, list):
        if not all(type(value) is int for value in content):
            raise source.error("a list of value indices (integers) was expected")
        return _indices(source, content, problem)
    if not isinstance(content, dict):
        raise source.error('an object of "variable": value was expected')
    names = (
        {name: i for i, name in enumerate(problem.names.variables)}
        if any(isinstance(value, bool) for value in content.values())
        else {}
    )
    for name, value in content.items():
        if not isinstance(value, str | int | float):
            raise source.error(f"the value of {name!r} is neither text nor a number")
        if isinstance(value, bool) and name in names and not _has_truths(problem.names.labels(names[name])):
            raise source.error(f"the value of {name!r} is {json.dumps(value)}, its labels are others")
    return _labels(source, content, problem)


def _has_truths(labels: tuple[Label, ...]) -> bool:
    """Whether true and false are labels, or their text is."""
    return any(isinstance(label, bool | np.bool_) or label in ("True", "False") for label in labels)


def _from_mpe(source: Source, words: list[str], problem: Problem) -> Assignment:
    # Competition solvers append better answers after -BEGIN-; the last one counts.
    start = len(words) - words[::-1].index("-BEGIN-") if "-BEGIN-" in words else 1
    numbers = _integers(source, words[start:])
    n = problem.num_variables if len(numbers) >= problem.num_variables + 1 else problem.auxiliaries.num_visible
    if len(numbers) == n + 2 and numbers[:2] == [1, n]:  # a variant counts the samples of evidence first
        numbers = numbers[1:]
    if not numbers or numbers[0] != n or len(numbers) != n + 1:
        found = numbers[0] if numbers else "nothing"
        raise source.error(f"the number of variables ({n}) and as many values were expected after MPE, {found} found")
    return _indices(source, numbers[1:], problem)


def _from_sol(source: Source, words: list[str], problem: Problem) -> Assignment:
    if all("=" in word for word in words):
        return _labels(source, dict(word.split("=", 1) for word in words), problem)
    return _indices(source, _integers(source, words), problem)


def _integers(source: Source, words: list[str]) -> list[int]:
    for word in words:
        if not (word.isascii() and word.isdigit() and len(word) < 19):
            raise source.error(f"a value index was expected, {word[:40]!r} found")
    return [int(word) for word in words]


def _indices(source: Source, values: list[int], problem: Problem) -> Assignment:
    if len(values) not in (problem.num_variables, problem.auxiliaries.num_visible):
        raise source.error(f"{problem.auxiliaries.num_visible} values were expected, {len(values)} found")
    for i, value in enumerate(values):
        if not 0 <= value < problem.domain_sizes[i]:
            raise source.error(
                f"variable {problem.names.variable(i)!r} has values 0..{problem.domain_sizes[i] - 1}, {value} found"
            )
    return problem.names.checked(np.array(values, dtype=np.int64))


def _labels(source: Source, values: Mapping[str, Label], problem: Problem) -> Assignment:
    try:
        return problem.names.assignment(values)
    except ProblemError as error:
        raise source.error(str(error)) from None
