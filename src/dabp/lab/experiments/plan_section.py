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


@dataclass(frozen=True)
class Section:
    """A table of a plan; `place` is how messages call it."""

    data: Mapping[str, Any]
    place: str

    def __contains__(self, key: str) -> bool:
        return key in self.data

    def only(self, *keys: str) -> None:
        """Refuse keys that this table does not have."""
        for key in self.data:
            if key not in keys:
                raise ParameterError(f"{self.place} has no {key!r}; there are {', '.join(sorted(keys))}")

    def text(self, key: str, default: str) -> str:
        """Text that is not empty, or the default."""
        return str(self._fitting(key, default, _is_text, "non-empty text"))

    def texts(self, key: str) -> list[str]:
        """A list of words, empty if there is none."""
        return list(self._fitting(key, [], _list_of(_is_text), "a list of names"))

    def patterns(self, key: str) -> list[str]:
        """Words, or a list of them that is not empty."""
        listed = _list_of(_is_text)
        wanted = "non-empty text, or a non-empty list of it"
        value = self._fitting(key, None, lambda v: _is_text(v) or (bool(v) and listed(v)), wanted)
        return [value] if isinstance(value, str) else list(value)

    def whole(self, key: str, default: int, least: int, most: int = 2**63 - 1) -> int:
        """A whole number that is neither too small nor too large."""
        value = int(self._fitting(key, default, _whole_from(least), f"a whole number of at least {least}"))
        self._few(key, value, most)
        return value

    def seeds(self, key: str) -> list[int]:
        """The numbers below a whole number (by default 1), or those of a list that is not empty."""
        count, listed = _whole_from(1), _list_of(_whole_from(0))
        wanted = "a whole number of at least 1, or a non-empty list of whole numbers of at least 0"
        value = self._fitting(key, 1, lambda v: count(v) or (bool(v) and listed(v)), wanted)
        self._few(key, len(value) if isinstance(value, list) else int(value), MOST_RUNS)
        return [int(each) for each in value] if isinstance(value, list) else list(range(int(value)))

    def positive(self, key: str) -> float | None:
        """A finite number above 0, None if there is none."""
        value: float | None = None
        if key in self:
            value = self._fitting(
                key, None, lambda v: _is_number(v) and 0 < v < sys.float_info.max, "a positive number"
            )
        return value

    def table(self, key: str) -> Section:
        """A table within this one, empty if there is none."""
        return Section(self._fitting(key, {}, _is_table, "a table of keys and values"), f"{key} of {self.place}")

    def tables(self, key: str) -> list[Section]:
        """The entries written as ``[[key]]``, at least one."""
        values = self._fitting(key, [], _list_of(_is_table), f"a list of tables, written [[{key}]]")
        if not values:
            raise ParameterError(f"{self.place} has no [[{key}]], and so nothing to run")
        return [Section(value, f"[[{key}]] entry {number}") for number, value in enumerate(values, 1)]

    def values(self, key: str) -> dict[str, Any]:
        """A table of anything that can be sent to a worker and hashed."""
        inner = self.table(key)
        wanted = "a number, text, true or false, or lists and tables of them"
        return {name: inner._fitting(name, None, _is_plain, wanted) for name in inner.data}

    def choices(self, key: str) -> dict[str, list[Any]]:
        """A table of lists that are not empty."""
        inner = self.table(key)
        return {
            name: inner._fitting(name, None, lambda v: isinstance(v, list) and bool(v), "a list of values")
            for name in self.values(key)
        }

    def _few(self, key: str, count: int, most: int) -> None:
        if count > most:
            raise ParameterError(f"{key!r} of {self.place} is at most {most:,}, not {_shown(count)}")

    def _fitting(self, key: str, default: Any, fits: Callable[[Any], bool], wanted: str) -> Any:
        """The value of a key if it fits; all lookups come through here."""
        value = self.data.get(key, default)
        if not fits(value):
            raise ParameterError(f"{key!r} of {self.place} is {wanted}, not {_shown(value)}")
        return value


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_table(value: Any) -> bool:
    return isinstance(value, Mapping)


def _whole_from(least: int) -> Callable[[Any], bool]:
    """Also 1e6, as people write it; 1.5 is none."""
    return lambda value: _is_number(value) and value >= least and value % 1 == 0


def _list_of(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(fits, value))


def _is_plain(value: Any) -> bool:
    """Whether JSON can represent a value; it cannot represent dates and times of TOML."""
    if isinstance(value, Mapping):
        return all(_is_plain(each) for each in value.values())
    if isinstance(value, list):
        return all(_is_plain(each) for each in value)
    return isinstance(value, str | int | float)


def _shown(value: Any) -> str:
    """A value as a message has it: short, and dates as they were written."""
    return value.isoformat() if isinstance(value, dt.date | dt.time) else reprlib.repr(value)
