"""Text files have an encoding: without one Windows takes the code page of the country it was sold in."""

from __future__ import annotations

import ast
from pathlib import Path

SOURCE = Path(__file__).parents[2] / "src" / "dabp"


def _is_text_without_encoding(call: ast.Call) -> bool:
    """Whether a call opens a text file; ``**options`` may hold an encoding."""
    options = {keyword.arg for keyword in call.keywords}
    if {"encoding", None} & options:
        return False
    match call.func:
        case ast.Attribute(attr="read_text" | "write_text"):
            return True
        case ast.Name(id="open") | ast.Attribute(attr="fdopen"):
            mode = call.args[1] if len(call.args) > 1 else None
            return not (isinstance(mode, ast.Constant) and "b" in str(mode.value))
    return False


def test_no_text_file_is_opened_without_an_encoding() -> None:
    """Neither by `open` nor by the methods of `pathlib.Path`, of which ruff sees only some."""
    found = [
        f"{path.relative_to(SOURCE)}:{node.lineno}"
        for path in SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and _is_text_without_encoding(node)
    ]
    assert found == []


def test_what_has_none_is_found() -> None:
    """A mode that is not binary, whoever opens."""
    for text, wrong in (
        ("open(p)", True),
        ("open(p, 'w')", True),
        ("open(p, 'rb')", False),
        ("open(p, 'w', encoding='utf-8')", False),
        ("p.read_text()", True),
        ("p.write_text(t, 'utf-8')", True),
        ("p.write_text(t, encoding='utf-8')", False),
        ("os.fdopen(1, 'wb')", False),
    ):
        (call,) = (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.Call))
        assert _is_text_without_encoding(call) is wrong, text
