"""Values of plans and calls, checked against type hints."""

from __future__ import annotations

import numbers
import typing
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any

from dabp.errors import ParameterError

WORDS = {int: "a whole number", float: "a number", bool: "true or false", str: "text"}
"""Type of a parameter → its name in messages."""


def check_types(owner: str, given: Mapping[str, Any], hints: Mapping[str, Any]) -> None:
    """Refuse values that do not fit their hints; hints of other types than `WORDS` has allow anything."""
    for key, value in given.items():
        hint = hints.get(key, Any)
        options = [each for each in typing.get_args(hint) if each is not NoneType]
        options = options if isinstance(hint, UnionType) else [hint]
        if all(option in WORDS for option in options) and not any(_fits(value, option) for option in options):
            wanted = " or ".join(WORDS[option] for option in options)
            raise ParameterError(f"parameter {key!r} of {owner} is {wanted}, not {value!r}")


def _fits(value: Any, option: type) -> bool:
    if isinstance(value, bool):
        return option is bool
    kinds: dict[type, type] = {int: numbers.Integral, float: numbers.Real}
    return isinstance(value, kinds.get(option, option))
