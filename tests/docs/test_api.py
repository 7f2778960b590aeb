"""docs/api.md: what it names is there, and what its docstrings say agrees with the signatures."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import dabp

ROOT = Path(__file__).parents[2]
NAMED = re.findall(r"^::: (\S+)$", (ROOT / "docs" / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
PARAMETERS = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-{3,}$|\Z)", re.MULTILINE | re.DOTALL)


def found(path: str) -> Any:
    """The object that a line of the page names."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except AttributeError:
        return importlib.import_module(path)


def callables() -> Iterator[tuple[str, Any, Any]]:
    """Functions, classes and their public methods, each with what has its docstring."""
    for path in NAMED:
        thing = found(path)
        if inspect.ismodule(thing):
            continue
        yield path, thing, thing
        if inspect.isclass(thing):
            for name, member in inspect.getmembers(thing, inspect.isroutine):
                if not name.startswith("_"):
                    yield f"{path}.{name}", member, member


def documented(thing: Any) -> list[str]:
    """Names in the docstring's section of parameters."""
    section = PARAMETERS.search(inspect.cleandoc(thing.__doc__ or ""))
    if section is None:
        return []
    return [
        name.strip(" *") for line in section[1].splitlines() if re.match(r"\w|\*", line) for name in line.split(",")
    ]


def test_everything_that_import_gives_is_on_the_page() -> None:
    """By its object, wherever it lives; errors are there as a module."""
    shown = [found(path) for path in NAMED]
    missing = [name for name in dabp.__all__ if name != "__version__" and getattr(dabp, name) not in shown]
    assert [name for name in missing if not name.endswith("Error")] == []
    assert importlib.import_module("dabp.errors") in shown


@pytest.mark.parametrize(("path", "thing"), [(path, thing) for path, thing, _ in callables()])
def test_documented_parameters_are_those_of_the_signature(path: str, thing: Any) -> None:
    """All of them, each once, in any order; a docstring without a section of parameters says it in its text."""
    names = documented(thing)
    if not names:
        return
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        pytest.fail(f"{path} has no signature")
    declared = [name for name in signature.parameters if name not in ("self", "cls")]
    assert sorted(names) == sorted(declared), path


@pytest.mark.parametrize("path", [p for p in NAMED if dataclasses.is_dataclass(found(p))])
def test_public_members_say_what_they_are(path: str) -> None:
    """Methods and properties of what users hold have a docstring."""
    kind = found(path)
    silent = [
        name
        for name, member in inspect.getmembers(kind)
        if not name.startswith("_")
        and (inspect.isroutine(member) or isinstance(member, property))
        and not inspect.getdoc(member)
    ]
    assert not silent


def test_the_site_shows_each_parameter_with_its_own_type() -> None:
    """Parameters that are described together keep their types and defaults (needs what builds the site)."""
    griffe = pytest.importorskip("griffe")
    hook = str(ROOT / "docs" / "hooks" / "entries.py")
    loader = griffe.GriffeLoader(
        extensions=griffe.load_extensions(hook), search_paths=[ROOT / "src"], docstring_parser="numpy"
    )
    function = loader.load("dabp")["driver.solve.solve"]
    sections = [each for each in function.docstring.parsed if each.kind.value == "parameters"]
    shown = {entry.name: (str(entry.annotation), entry.value) for entry in sections[0].value}
    declared = inspect.signature(dabp.solve).parameters
    assert shown.keys() == declared.keys()
    assert shown["threads"] == ("int | None", "None")
    assert shown["seed"] == ("int", "0")
    for name, (annotation, default) in shown.items():
        assert annotation.replace(" ", "") == str(declared[name].annotation).replace(" ", "").strip("'"), name
        empty = declared[name].default is inspect.Parameter.empty
        assert (default is None or declared[name].kind is inspect.Parameter.VAR_KEYWORD) == empty
