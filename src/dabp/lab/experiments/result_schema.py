"""What the files of an experiment look like: everything that is read back is checked, key by key.

Files are moved, cut off by full disks, edited and sent: nothing in them is believed before it fits. What does not is
a `FormatError` that names the file, the line and the key.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from dabp.errors import FormatError
from dabp.plots.style import HUGE
from dabp.solvers.status import Status

FORMAT = 1
"""Of result lines and plan records; a file with a larger one was written by a later version."""

LONGEST = 2**28
"""Largest length of a line in bytes: an assignment of ten million variables fits."""


def is_number(value: Any) -> bool:
    """Whether a value is a finite number; truth values are none."""
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < HUGE


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _is_shallow(value: Any, left: int = 20) -> bool:
    """Whether tables and lists within a value are nested at most `left` deep."""
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return (left > 0 or not isinstance(value, dict | list)) and all(_is_shallow(each, left - 1) for each in inner)


def _matches(pattern: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and re.fullmatch(pattern, value) is not None


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "number": (is_number, "a finite number"),
    "positive": (lambda value: is_number(value) and value >= 0, "a number of at least 0"),
    "whole": (_is_whole, "a whole number of at least 0"),
    "truth": (lambda value: isinstance(value, bool), "true or false"),
    "text": (lambda value: isinstance(value, str), "text"),
    "table": (lambda value: isinstance(value, dict) and _is_shallow(value), "a table"),
    "texts": (lambda value: isinstance(value, list) and all(isinstance(v, str) for v in value), "a list of texts"),
    "values": (lambda value: isinstance(value, list) and all(map(_is_whole, value)), "a list of whole numbers"),
    "list": (lambda value: isinstance(value, list), "a list"),
    "key": (_matches("[0-9a-f]{40}"), "40 hex digits"),
    "name": (_matches(r"\w[\w.-]*"), "a plan's name"),
    "state": (lambda value: value in ("done", "failed"), "done or failed"),
    "status": (lambda value: value in [each.value for each in Status], "a status"),
}
"""Whether a value is of a kind, and what it should be, in words."""

TABLES: dict[str, str] = {
    "summary": "key:key state:state solver:text parameters:table instance:table instance_key:text limits:table "
    "seed:whole repetition:whole version:text",
    "done": "cost:number? bound:number? status:status iterations:whole runtime:positive variables:whole "
    "constraints:whole maximize:truth assignment:values? cpu:positive",
    "failed": "reason:text detail:text",
    "measured": "wall:positive cpu:positive peak_memory:positive generation_time:positive",
    "improvement": "time:positive iteration:whole value:number",
    "bound": "time:positive iteration:whole value:number",
    "restart": "restart:whole iterations:whole converged:truth",
    "run": "instance:table solver:text parameters:table limits:table seed:whole repetition:whole group:text "
    "series:text swept:table",
    "limits": "time:positive? iterations:positive? wall:positive? memory:positive?",
    "generated": "family:text parameters:table seed:whole",
    "read": "file:text sha256:text",
    "plan": "name:name title:text figures:texts text:text environment:table runs:list",
    "environment": "started:text command:texts versions:table machine:table",
}
"""The keys of each table and the kinds of their values; with ``?`` a value may be null."""


class MismatchError(ValueError):
    """Something in a file does not fit; its text says what, the caller adds where."""


def summary_of(data: Any) -> dict[str, Any]:
    """The summary of a result, checked."""
    table = _versioned(data)
    _fit(table, "summary")
    _fit(table, table["state"])
    _fit({**dict.fromkeys(("wall", "cpu", "peak_memory", "generation_time"), 0), **table}, "measured")
    if table["state"] == "done":
        if (table["cost"] is None) != (table["assignment"] is None):
            raise MismatchError("an answer has both a cost and an assignment")
        if table["assignment"] is not None and len(table["assignment"]) != table["variables"]:
            raise MismatchError("the assignment has not one value for each variable")
    return table


def row_of(data: Any) -> dict[str, Any]:
    """A line of a trace, checked."""
    table, kinds = _table(data), ["improvement", "bound", "restart"]
    if table.get("type") not in kinds:
        raise MismatchError(f"'type' is {', '.join(kinds)}, not {_short(table.get('type'))}")
    _fit(table, table["type"])
    return table


def plan_of(data: Any) -> dict[str, Any]:
    """A plan's record with its runs, checked."""
    table = _versioned(data)
    _fit(table, "plan")
    _fit(table["environment"], "environment")
    if not isinstance(table["environment"].get("earlier", []), list):
        raise MismatchError("'earlier' is a list")
    for run in table["runs"]:
        _fit(_table(run), "run", also=["key"])
        _fit(run["limits"], "limits", also=[])
        _fit(run["instance"], "read" if "file" in run["instance"] else "generated")
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


def _versioned(data: Any) -> dict[str, Any]:
    table = _table(data)
    found = table.get("format", FORMAT)
    if not _is_whole(found) or found > FORMAT:
        raise MismatchError(f"its format is {_short(found)}, this version reads up to {FORMAT}")
    return table


def _fit(table: Mapping[str, Any], name: str, also: Sequence[str] | None = None) -> None:
    """Check a table of `TABLES`; with `also` it has no other keys than its own and these."""
    fields = dict(field.split(":") for field in TABLES[name].split())
    for key, kind in fields.items():
        fits, wanted = KINDS[kind.removesuffix("?")]
        if key not in table:
            raise MismatchError(f"{key!r} is missing")
        if not fits(table[key]) and not (kind.endswith("?") and table[key] is None):
            wanted += " or null" if kind.endswith("?") else ""
            raise MismatchError(f"{key!r} is {wanted}, not {_short(table[key])}")
    if also is not None and (odd := table.keys() - fields.keys() - set(also)):
        raise MismatchError(f"a table of a {name} has no {_short(min(odd))}")


def _short(value: Any) -> str:
    text = ascii(value)
    return text if len(text) <= 40 else f"{text[:37]}…"


def _refuse(word: str) -> None:
    raise ValueError(f"{word} is no JSON")
