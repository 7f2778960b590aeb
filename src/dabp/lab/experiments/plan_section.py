"""Values of a plan by key and kind; errors name the key and its place in the plan."""

from __future__ import annotations

import datetime as dt
import reprlib
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from dabp.errors import ParameterError

MOST_RUNS = 250_000
"""Runs of a plan; each is kept in memory, and a file of its own."""

LARGEST = 2**63 - 1
"""The largest whole number of a plan."""


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _whole_from(least: int) -> Callable[[Any], bool]:
    """Also 1e6, as people write it; 1.5 is none."""
    return lambda value: _is_number(value) and value >= least and value % 1 == 0


def _list_of(fits: Callable[[Any], bool], least: int = 0) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and len(value) >= least and all(map(fits, value))


def _is_plain(value: Any) -> bool:
    """Whether JSON can represent a value; it cannot represent dates and times of TOML."""
    if isinstance(value, Mapping | list):
        return all(map(_is_plain, value.values() if isinstance(value, Mapping) else value))
    return isinstance(value, str | int | float)


def _either(*kinds: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: any(fits(value) for fits in kinds)


KINDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "text": (_is_text, "non-empty text"),
    "names": (_list_of(_is_text), "a list of names"),
    "patterns": (_either(_is_text, _list_of(_is_text, 1)), "non-empty text, or a non-empty list of it"),
    "natural": (_whole_from(0), "a whole number of at least 0"),
    "count": (_whole_from(1), "a whole number of at least 1"),
    "seeds": (
        _either(_whole_from(1), _list_of(_whole_from(0), 1)),
        "a whole number of at least 1, or a non-empty list of whole numbers of at least 0",
    ),
    "positive": (lambda value: _is_number(value) and 0 < value < sys.float_info.max, "a positive number"),
    "size": (_either(_is_text, _whole_from(1)), "an amount of memory like '4 GB', or a number of bytes"),
    "table": (lambda value: isinstance(value, Mapping), "a table of keys and values"),
    "tables": (_list_of(lambda value: isinstance(value, Mapping)), "a list of tables, written [[…]]"),
    "plain": (_is_plain, "a number, text, true or false, or lists and tables of them"),
    "choices": (_list_of(lambda _: True, 1), "a list of values"),
}
"""Whether a value is of a kind, and what it should be, in words."""

TABLES: dict[str, str] = {
    "the plan": "name:text title:text seed:natural repetitions:count figures:names limits:table instances:tables "
    "solvers:tables",
    "limits": "time:positive iterations:count wall:positive memory:size",
    "[[solvers]]": "solver:text label:text parameters:table sweep:table limits:table",
    "[[instances]]": "family:text files:patterns label:text parameters:table sweep:table seeds:seeds",
}
"""The keys of each table of a plan and the kinds of their values."""


@dataclass(frozen=True)
class Section:
    """A table of a plan whose keys and values fit `TABLES`; `place` is its name in messages."""

    data: Mapping[str, Any]
    place: str
    table: str

    def __post_init__(self) -> None:
        fields = dict(field.split(":") for field in TABLES[self.table].split())
        for key, value in self.data.items():
            if key not in fields:
                raise ParameterError(f"{self.place} has no {key!r}; there are {', '.join(sorted(fields))}")
            _check(key, value, fields[key], self.place)

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key, or the default."""
        return self.data.get(key, default)

    def limits(self) -> Section:
        """The table ``limits`` within this one, empty if there is none."""
        return Section(self.get("limits", {}), f"limits of {self.place}", "limits")

    def tables(self, key: str) -> list[Section]:
        """The entries written as ``[[key]]``, at least one."""
        if not self.get(key):
            raise ParameterError(f"{self.place} has no [[{key}]], and so nothing to run")
        return [Section(value, f"[[{key}]] entry {n}", f"[[{key}]]") for n, value in enumerate(self.get(key), 1)]

    def values(self, key: str, *kinds: str) -> dict[str, Any]:
        """A table of anything that can be sent to a worker and hashed; each value is also of these kinds."""
        for name, value in self.get(key, {}).items():
            for kind in ("plain", *kinds):
                _check(name, value, kind, f"{key} of {self.place}")
        return dict(self.get(key, {}))


def _check(key: str, value: Any, kind: str, place: str) -> None:
    """Refuse a value that is not of a kind, or too large a number."""
    fits, wanted = KINDS[kind]
    if not fits(value):
        raise ParameterError(f"{key!r} of {place} is {wanted.replace('…', key)}, not {_shown(value)}")
    if kind in ("natural", "count") and value > LARGEST:
        raise ParameterError(f"{key!r} of {place} is at most {LARGEST:,}, not {_shown(value)}")


def _shown(value: Any) -> str:
    """A value as a message has it: short, and dates as they were written."""
    return value.isoformat() if isinstance(value, dt.date | dt.time) else reprlib.repr(value)
