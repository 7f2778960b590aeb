"""What is observed: variables fixed at a value, by name or by index; see docs/formats/uai.md and docs/formats/bif.md.

- ``2 0 1 2 1``, as in the UAI competitions: how many, then variable and value of each by index; a number of samples, 1,
  may stand before that.
- ``smoke=yes`` by name, one after another with commas, semicolons or line ends between; indices serve as names, too.
- ``{"smoke": "yes"}``, JSON.
"""

from __future__ import annotations

import os
import re

import numpy as np

from dabp.errors import ProblemError, suggestion
from dabp.formats.text import Place, Source, open_source
from dabp.formats.tokens import Tokens
from dabp.problem import Label, Problem


def is_text(evidence: str) -> bool:
    """Whether this is evidence itself, as ``smoke=yes``, and not the name of a file."""
    return "=" in evidence and not os.path.exists(evidence)


def read_evidence(place: Place, problem: Problem) -> dict[int, int]:
    """Variable → value index of an evidence file, or of a text such as ``smoke=yes``."""
    if isinstance(place, str) and is_text(place):
        return _by_name(Source(f"evidence {place[:60]!r}", place.encode()), place, problem)
    source = open_source(place, empty=True)
    if not source.data.strip():
        return {}
    text = source.text().strip()
    if text.startswith("{"):
        return _from_json(source, text, problem)
    if "=" in text:
        return _by_name(source, text, problem)
    return _by_index(source, problem)


def _by_index(source: Source, problem: Problem) -> dict[int, int]:
    tokens = Tokens(Source(source.name, b"evidence " + source.data))
    numbers = tokens.take(len(tokens), "a number").astype(np.float64)
    if len(numbers) > 1 and numbers[0] == 1 and len(numbers) == 2 + 2 * numbers[1]:
        numbers = numbers[1:]
    if not len(numbers) or numbers[0] != np.rint(numbers[0]) or len(numbers) != 1 + 2 * numbers[0]:
        raise source.error("evidence is a count k and then k times a variable and its value")
    fixed: dict[int, int] = {}
    for variable, value in numbers[1:].reshape(-1, 2).tolist():
        if not 0 <= variable < problem.num_variables or variable != int(variable):
            raise source.error(f"there is no variable {variable:g}; there are 0..{problem.num_variables - 1}")
        index = int(variable)
        if not 0 <= value < problem.domain_sizes[index] or value != int(value):
            raise source.error(f"variable {index} has values 0..{problem.domain_sizes[index] - 1}, {value:g} found")
        _fix(source, problem, fixed, index, int(value))
    return fixed


def _fix(source: Source, problem: Problem, fixed: dict[int, int], variable: int, value: int) -> None:
    if fixed.setdefault(variable, value) != value:
        raise source.error(f"variable {problem.names.variable(variable)!r} has two values")


def _from_json(source: Source, text: str, problem: Problem) -> dict[int, int]:
    fixed: dict[int, int] = {}
    for name, value in source.json(text).items():
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            raise source.error(f"the value of {name[:40]!r} is neither text nor a number")
        _fix(source, problem, fixed, *_found(source, problem, name, value, None))
    return fixed


def _by_name(source: Source, text: str, problem: Problem) -> dict[int, int]:
    fixed: dict[int, int] = {}
    for number, row in enumerate(text.split("\n"), 1):
        line = number if "\n" in text else None
        for part in re.split("[,;]", row):
            if not part.strip() or part.strip().startswith("#"):
                continue
            name, equals, value = part.partition("=")
            if not equals:
                raise source.error(f"evidence is variable=value, not {part.strip()[:40]!r}", line)
            _fix(source, problem, fixed, *_found(source, problem, name.strip(), value.strip(), line))
    return fixed


def _found(source: Source, problem: Problem, name: str, value: Label, line: int | None) -> tuple[int, int]:
    """The indices of a variable and a value, each by name, or by index where no name is a number."""
    try:
        variable = problem.names.variable_index(name)
    except ProblemError as error:
        variable = int(name) if re.fullmatch("[0-9]{1,18}", name) else problem.num_variables
        if variable >= problem.num_variables:
            near = suggestion(name, problem.names.variables) if problem.num_variables <= 20_000 else ""
            raise source.error(str(error) + near * ("did you mean" in near), line) from None
    try:
        return variable, problem.names.value_index(variable, value)
    except ProblemError as error:
        text = str(value)
        if re.fullmatch("[0-9]{1,18}", text) and int(text) < problem.domain_sizes[variable]:
            return variable, int(text)
        raise source.error(str(error), line) from None
