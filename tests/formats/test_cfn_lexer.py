"""Words of relaxed JSON: what separates, what opens and closes, and where things stand."""

from __future__ import annotations

import pytest

from dabp.errors import FormatError
from dabp.formats.cfn_lexer import Lexer
from dabp.formats.text import Source


def _lexer(text: str) -> Lexer:
    return Lexer(Source("f.cfn", text.encode(), 2**20))


def _words(text: str) -> list[str]:
    lexer, words = _lexer(text), []
    while lexer.peek() is not None:
        words.append(lexer.next())
    return words


@pytest.mark.parametrize(
    "text",
    ['{"a": [1, 2.5], "b": x}', "{a [1 2.5] b x}", '{ "a":\n[ "1" 2.5 ],,: b:x }', "{a [1 2.5] // c\n# d\nb x}"],
)
def test_separators_only_separate(text: str) -> None:
    """Quotes, commas, colons, white space and comments give the same words."""
    assert _words(text) == ["{", "a", "[", "1", "2.5", "]", "b", "x", "}"]


def test_lines() -> None:
    """The line is that of the last word taken, comments counted."""
    lexer = _lexer("{\n# comment\n\na\n}")
    assert [(lexer.next(), lexer.line) for _ in range(3)] == [("{", 1), ("a", 4), ("}", 5)]
    with pytest.raises(FormatError, match=":5: the file ends early"):
        lexer.next()


def test_numbers_up_to_a_bracket() -> None:
    """All numbers of a list at once, infinite ones included; a second opening bracket has no place there."""
    assert _lexer('1, "2.5" inf -3e2] rest').numbers().tolist() == [1, 2.5, float("inf"), -300]
    for text, reason in (("1 2", "no end"), ("1 [2]", "no end"), ("1 nan]", "'nan' found"), ("1 x]", "'x' found")):
        with pytest.raises(FormatError, match=reason):
            _lexer(text).numbers()


@pytest.mark.parametrize("text", ["1.5", "x", "9999999999999999999", "{"])
def test_what_is_no_integer(text: str) -> None:
    """Sizes are integers that a machine can hold."""
    with pytest.raises(FormatError, match="a size was expected"):
        _lexer(text).integer("a size")
