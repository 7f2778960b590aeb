"""What the files of an experiment look like: everything that is read back is checked, key by key.

Files are moved, cut off by full disks, edited and sent: nothing in them is believed before it fits. What does not is
a `FormatError` that names the file, the line and the key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from dabp.errors import FormatError
from dabp.plots.style import HUGE
from dabp.solvers.status import Status

FORMAT = 1
"""Of result lines and plan records; a file with a larger one was written by a later version."""
LONGEST = 2**28
"""Bytes of a line: an assignment of ten million variables fits."""

DEEPEST = 20
"""Tables within tables."""

Check = tuple[Callable[[Any], bool], str]
"""Whether a value fits, and what it should be."""


def is_number(value: Any) -> bool:
    """Whether a value is a finite number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < HUGE


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_shallow(value: Any, left: int) -> bool:
    if isinstance(value, dict | list):
        return left > 0 and all(
            _is_shallow(each, left - 1) for each in (value.values() if isinstance(value, dict) else value)
        )
    return True


def _optional(check: Check) -> Check:
    fits, wanted = check
    return lambda value: value is None or fits(value), f"{wanted} or null"


NUMBER: Check = (is_number, "a finite number")
POSITIVE: Check = (lambda value: is_number(value) and value >= 0, "a number of at least 0")
WHOLE: Check = (_is_whole, "a whole number of at least 0")
TRUTH: Check = (lambda value: isinstance(value, bool), "true or false")
TEXT: Check = (lambda value: isinstance(value, str), "text")
TABLE: Check = (lambda value: isinstance(value, dict) and _is_shallow(value, DEEPEST), "a table")
TEXTS: Check = (lambda value: isinstance(value, list) and all(isinstance(v, str) for v in value), "a list of texts")
VALUES: Check = (lambda value: isinstance(value, list) and all(map(_is_whole, value)), "a list of whole numbers")
KEY: Check = (lambda value: isinstance(value, str) and re.fullmatch("[0-9a-f]{40}", value) is not None, "40 hex digits")
STATE: Check = (lambda value: value in ("done", "failed"), "done or failed")
STATUS: Check = (lambda value: value in [each.value for each in Status], "a status")
NAME: Check = (lambda value: isinstance(value, str) and re.fullmatch(r"\w[\w.-]*", value) is not None, "a plan's name")

IDENTITY: dict[str, Check] = {
    "key": KEY, "state": STATE, "solver": TEXT, "parameters": TABLE, "instance": TABLE, "instance_key": TEXT,
    "limits": TABLE, "seed": WHOLE, "repetition": WHOLE, "version": TEXT,
}  # fmt: skip
DONE: dict[str, Check] = {
    "cost": _optional(NUMBER), "bound": _optional(NUMBER), "status": STATUS, "iterations": WHOLE, "runtime": POSITIVE,
    "variables": WHOLE, "constraints": WHOLE, "maximize": TRUTH, "assignment": _optional(VALUES), "cpu": POSITIVE,
}  # fmt: skip
FAILED: dict[str, Check] = {"reason": TEXT, "detail": TEXT}
MEASURED: dict[str, Check] = {"wall": POSITIVE, "cpu": POSITIVE, "peak_memory": POSITIVE, "generation_time": POSITIVE}
MOMENT: dict[str, Check] = {"time": POSITIVE, "iteration": WHOLE, "value": NUMBER}
ROWS: dict[str, dict[str, Check]] = {
    "improvement": MOMENT,
    "bound": MOMENT,
    "restart": {"restart": WHOLE, "iterations": WHOLE, "converged": TRUTH},
}
RUN: dict[str, Check] = {
    "instance": TABLE, "solver": TEXT, "parameters": TABLE, "limits": TABLE, "seed": WHOLE, "repetition": WHOLE,
    "group": TEXT, "series": TEXT, "swept": TABLE,
}  # fmt: skip
LIMITS: dict[str, Check] = {name: _optional(POSITIVE) for name in ("time", "iterations", "wall", "memory")}
PLAN: dict[str, Check] = {"name": NAME, "title": TEXT, "figures": TEXTS, "text": TEXT, "environment": TABLE}
ENVIRONMENT: dict[str, Check] = {"started": TEXT, "command": TEXTS, "versions": TABLE, "machine": TABLE}


class MismatchError(ValueError):
    """Something in a file does not fit; its text says what, the caller adds where."""


def summary_of(data: Any) -> dict[str, Any]:
    """The summary of a result, checked."""
    table = _table(data)
    _versioned(table)
    _fit(table, IDENTITY)
    _fit(table, FAILED if table["state"] == "failed" else DONE)
    _fit(table, {key: check for key, check in MEASURED.items() if key in table})
    if table["state"] == "done":
        if (table["cost"] is None) != (table["assignment"] is None):
            raise MismatchError("an answer has both a cost and an assignment")
        if table["assignment"] is not None and len(table["assignment"]) != table["variables"]:
            raise MismatchError("the assignment has not one value for each variable")
    return table


def row_of(data: Any) -> dict[str, Any]:
    """A line of a trace, checked."""
    table = _table(data)
    if table.get("type") not in list(ROWS):
        raise MismatchError(f"'type' is {', '.join(ROWS)}, not {_short(table.get('type'))}")
    _fit(table, ROWS[table["type"]])
    return table


def plan_of(data: Any) -> dict[str, Any]:
    """A plan's record with its runs, checked."""
    table = _table(data)
    _versioned(table)
    _fit(table, PLAN)
    _fit(table["environment"], ENVIRONMENT)
    if not isinstance(table["environment"].get("earlier", []), list):
        raise MismatchError("'earlier' is a list")
    if not isinstance(table.get("runs"), list):
        raise MismatchError("'runs' is a list")
    for run in table["runs"]:
        _fit(_table(run), RUN)
        if set(run) - {*RUN, "key"}:
            raise MismatchError(f"a run has no {_short(min(set(run) - {*RUN, 'key'}))}")
        if set(run["limits"]) != set(LIMITS):
            raise MismatchError(f"limits are {', '.join(LIMITS)}")
        _fit(run["limits"], LIMITS)
        instance = run["instance"]
        made = {"family": TEXT, "parameters": TABLE, "seed": WHOLE}
        _fit(instance, {"file": TEXT, "sha256": TEXT} if "file" in instance else made)
    return table


def lines_of(stream: IO[bytes], source: Path) -> Iterator[tuple[int, Any]]:
    """Numbered JSON values, a line each; `FormatError` where a line is none, or endless."""
    number = 0
    while line := stream.readline(LONGEST + 1):
        number += 1
        if len(line) > LONGEST:
            raise FormatError(f"a line is longer than {LONGEST:,} bytes", source=str(source), line=number)
        try:
            yield number, json.loads(line, parse_constant=_refuse)
        except (ValueError, RecursionError):
            raise FormatError("this is no line of JSON", source=str(source), line=number) from None


def fitting(check: Callable[[Any], dict[str, Any]], data: Any, source: Path, line: int | None) -> dict[str, Any]:
    """What a check gives; what it complains of with the place."""
    try:
        return check(data)
    except MismatchError as error:
        raise FormatError(str(error), source=str(source), line=line) from None


def _table(data: Any) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise MismatchError(f"a table is expected, not {_short(data)}")
    return data


def _versioned(table: Mapping[str, Any]) -> None:
    found = table.get("format", FORMAT)
    if not _is_whole(found) or found > FORMAT:
        raise MismatchError(f"its format is {_short(found)}, this version reads up to {FORMAT}")


def _fit(table: Mapping[str, Any], checks: Mapping[str, Check]) -> None:
    for key, (fits, wanted) in checks.items():
        if key not in table:
            raise MismatchError(f"{key!r} is missing")
        if not fits(table[key]):
            raise MismatchError(f"{key!r} is {wanted}, not {_short(table[key])}")


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
