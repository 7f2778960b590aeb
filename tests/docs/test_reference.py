"""Pages made from the program: every command with its options, every solver with its parameters."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main

from dabp.cli import app
from dabp.solvers import SOLVERS, parameters

HOOK = Path(__file__).parents[2] / "docs" / "hooks" / "reference.py"


@pytest.fixture(scope="module")
def reference() -> ModuleType:
    spec = importlib.util.spec_from_file_location("reference", HOOK)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def pages(reference: ModuleType) -> dict[str, str]:
    made: dict[str, str] = reference.pages()
    return made


def commands(command: Any = None, name: str = "") -> dict[str, Any]:
    """Commands by their whole name, those of groups included."""
    inner = getattr(typer.main.get_command(app) if command is None else command, "commands", None)
    if inner is None:
        return {name: command}
    return {path: one for key, each in inner.items() for path, one in commands(each, f"{name} {key}".strip()).items()}


@pytest.mark.parametrize("name", commands())
def test_a_command_has_all_its_options_on_its_page(pages: dict[str, str], name: str) -> None:
    """With the words of its help, once each."""
    page, _, part = name.partition(" ")
    text = pages[f"commands/{page}.md"]
    section = text.split(f"## dabp {name}\n")[1].split("\n## ")[0] if part else text
    for one in commands()[name].params:
        row = f"`{one.opts[0]}`" if one.param_type_name == "option" else f"`{(one.metavar or one.name).upper()}`"
        assert section.count(f"| {row}") == 1, one.name
        assert " ".join((one.help or "").split()).replace("|", "\\|") in section
    assert f"({page}.md)" in pages["commands/index.md"]


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_has_all_its_parameters_on_its_page(pages: dict[str, str], name: str) -> None:
    """Each with a default, its preset's, and with words that say what it is."""
    rows = [line.split(" | ") for line in pages[f"solvers/{name}.md"].splitlines() if line.startswith("| `")]
    shown = {row[0].strip("|` "): (row[2].strip("`"), row[3].strip(" |")) for row in rows}
    assert shown.keys() == parameters(name).keys()
    for key, (_, default) in parameters(name).items():
        assert shown[key][0] == str(default)
        assert len(shown[key][1]) > 5, f"{name}: {key} is not described"
    assert f"({name}.md)" in pages["solvers/index.md"]


def test_a_parameter_that_is_described_is_there(reference: ModuleType) -> None:
    """A docstring does not describe what a solver no longer has."""
    for name, entry in SOLVERS.items():
        described = reference.described_parameters(entry.load())[1]
        assert described.keys() <= parameters(name).keys(), name
