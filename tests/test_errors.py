"""Errors: one base class, places told, and the word that was meant."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from typing import Any

import pytest

import dabp
from dabp import errors
from dabp.errors import DabpError, FormatError, ParameterError, suggestion


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


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        (dabp.read, "max_cell", "max_cells"),
        (dabp.write, "fromat", "format"),
        (dabp.read_solution, "plac", "place"),
        (dabp.write_solution, "results", "result"),
        (dabp.Problem, "domain_size", "domain_sizes"),
        (dabp.Limits, "iteration", "iterations"),
        (dabp.Checkpoint, "resum", "resume"),
    ],
)
def test_an_unknown_keyword_argument_is_answered_by_the_nearest(
    function: Callable[..., Any], given: str, meant: str
) -> None:
    """In one sentence that names the function; callers catch it as ours and as Python's own error."""
    message = rf"^{function.__name__}\(\) has no argument '{given}'; did you mean '{meant}'\?$"
    for kind in (ParameterError, TypeError):
        with pytest.raises(kind, match=message):
            function("x", **{given: 1})


def test_functions_that_name_the_nearest_argument_keep_their_signature() -> None:
    """For help() and for programs that look at parameters; dataclasses can be replaced and compared as before."""
    assert [*inspect.signature(dabp.read).parameters] == ["place", "format", "max_cells", "max_bytes", "progress"]
    fields = [field.name for field in dataclasses.fields(dabp.Limits)]
    assert [*inspect.signature(dabp.Limits).parameters] == fields
    assert dataclasses.replace(dabp.Limits(time=3), iterations=5) == dabp.Limits(time=3, iterations=5)
