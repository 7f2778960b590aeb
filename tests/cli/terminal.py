"""Names that a terminal could misread, a file that has them, and a terminal to look at."""

from __future__ import annotations

import io
import json
import sys
from pathlib import Path

import pytest

from dabp.problem import Problem

NAMES = ("[/x]", "x[bold]", "x:cat:", "[link=y]", "\\[x]\\")
"""A closing tag that nothing opened, a style, an emoji, a link, and a backslash before and after."""
HARMFUL = ("\x1b[2Jx", "a\r\nb", "\u202egpj.exe", "<script>alert(1)</script>", "\x9b31m", "a\u2066b", "x\x07", "\ud800")
"""What clears a screen, begins a line, turns the direction, runs in a browser, colours, rings, or is no character."""


class Terminal(io.StringIO):
    """What would be on the screen."""

    def isatty(self) -> bool:
        return True


def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    """Make standard error a wide terminal: in the test, since pytest sets it anew after the fixtures."""
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("TERM", "xterm")
    return stream


def named_problem(name: str) -> Problem:
    """The same as a problem, for names that no file can have."""
    names, labels = [f"a{name}", "b"], [(f"u{name}", f"v{name}"), ("u", "v")]
    table = [1, 2, 3, 4]
    return Problem(
        [2, 2], [0, 1], [0, 2], table, [0, 4],
        name=f"p{name}", variable_names=names, factor_names=[f"f{name}"], labels=labels,
    )  # fmt: skip


def named_file(folder: Path, name: str) -> Path:
    """A problem whose name, variables, values and factors all have `name` in them."""
    path = folder / "named.cfn"
    content = {
        "problem": {"name": f"p{name}", "mustbe": "<10"},
        "variables": {f"a{name}": [f"u{name}", f"v{name}"], "b": ["u", "v"]},
        "functions": {f"f{name}": {"scope": [f"a{name}", "b"], "costs": [1, 2, 3, 4]}},
    }
    path.write_text(json.dumps(content))
    return path
