"""The tests of ``src/dabp/a/b.py`` are in ``tests/a/test_b.py``: a module's name says where to look."""

from __future__ import annotations

from pathlib import Path

import pytest

TESTS = Path(__file__).parent
SOURCE = TESTS.parent / "src" / "dabp"

WITHOUT_TESTS = {
    "__main__": "two lines that call the command line; tests/cli run it as ``python -m dabp``",
}
"""Modules that no test file is named after, and why."""

CROSSING = {
    "experiments/test_browser": "the report in a browser, which few machines have",
}
"""Test files of complete rooms that are named after no module, and why."""

COMPLETE = ("cli", "experiments", "generators", "plots")
"""Rooms whose every module has its tests."""

MODULES = sorted(
    module
    for module in (path.relative_to(SOURCE).with_suffix("").as_posix() for path in SOURCE.rglob("*.py"))
    if not module.endswith("__init__") and ("/" not in module or module.startswith(tuple(f"{r}/" for r in COMPLETE)))
)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_has_its_tests_where_its_name_says(module: str) -> None:
    """A file of tests, with at least one in it; or a reason why not, which no longer stands once there is one."""
    path = TESTS / Path(module).parent / f"test_{Path(module).name}.py"
    assert path.is_file() != (module in WITHOUT_TESTS), f"src/dabp/{module}.py has no tests/{path.relative_to(TESTS)}"
    assert module in WITHOUT_TESTS or "\ndef test_" in path.read_text(encoding="utf-8")


@pytest.mark.parametrize("room", COMPLETE)
def test_a_test_file_is_named_after_what_it_tests(room: str) -> None:
    """A module of its room, or the room itself; what crosses rooms is listed with its reason."""
    for path in (TESTS / room).rglob("test_*.py"):
        place = path.relative_to(TESTS).with_suffix("")
        module = place.with_name(place.name.removeprefix("test_"))
        names_its_room = module.name == module.parent.name
        assert (SOURCE / module).with_suffix(".py").is_file() or names_its_room or place.as_posix() in CROSSING, place


def test_exceptions_are_still_there() -> None:
    """A list of what no longer exists would excuse whatever comes next."""
    assert all((SOURCE / f"{module}.py").is_file() for module in WITHOUT_TESTS)
    assert all((TESTS / f"{name}.py").is_file() for name in CROSSING)
