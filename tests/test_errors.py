"""Errors: one base class, places told, and the word that was meant."""

from __future__ import annotations

import inspect

import pytest

from dabp import errors
from dabp.errors import DabpError, FormatError, suggestion


def test_every_error_of_ours_has_one_base() -> None:
    """Callers catch one class."""
    classes = [each for _, each in inspect.getmembers(errors, inspect.isclass) if each.__module__ == errors.__name__]
    assert len(classes) >= 6
    assert all(issubclass(each, DabpError) for each in classes if not issubclass(each, Warning))


@pytest.mark.parametrize(
    ("place", "text"),
    [({"source": "a.cfn", "line": 3}, "a.cfn:3: odd"), ({"source": "a.cfn"}, "a.cfn: odd"), ({}, "odd")],
)
def test_a_format_error_starts_with_its_place(place: dict[str, object], text: str) -> None:
    """As far as it is known; the parts are kept for programs."""
    error = FormatError("odd", **place)  # type: ignore[arg-type]
    assert str(error) == text
    assert (error.message, error.source, error.line) == ("odd", place.get("source"), place.get("line"))


def test_the_nearest_word_is_suggested() -> None:
    """Or all there are, if none is near."""
    assert suggestion("dbpp", ["tabu", "dbp"]) == "; did you mean 'dbp'?"
    assert suggestion("x", ["tabu", "dbp"]) == "; there are dbp, tabu"
