"""Names as people see them."""

from __future__ import annotations

import unicodedata

import pytest

from dabp.problem.shown import shown


@pytest.mark.parametrize("text", ["", "x1", "größe [bold] <b>", "λ · 温度", "نام", "👩‍🚀", "a b", "\\x1b"])
def test_ordinary_names_stay_as_they_are(text: str) -> None:
    """Every script, emoji and markup: none of them harms where it is taken literally."""
    assert shown(text) == text


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("a\x1b[2Jb", "a\\x1b[2Jb"),
        ("a\r\nb\t", "a\\r\\nb\\t"),
        ("\u202egpj.exe", "\\u202egpj.exe"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("\x9b31m", "\\x9b31m"),
        ("\ud800", "\\ud800"),
        ("a\u2028b", "a\\u2028b"),
        ("\U000e0041", "\\U000e0041"),
    ],
)
def test_what_moves_turns_or_hides_is_written_out(text: str, seen: str) -> None:
    """Escapes, ends of lines, marks of direction, half a character, invisible letters."""
    assert shown(text) == seen


def test_nothing_is_left_that_a_terminal_obeys() -> None:
    """Over all of Unicode: what comes out can be encoded, is one line and has no direction of its own."""
    for code in range(0x110000):
        seen = shown(chr(code))
        seen.encode()
        assert len(seen.splitlines()) == 1
        assert all(unicodedata.category(each) != "Cc" for each in seen)
        assert all(unicodedata.bidirectional(each) not in {"LRE", "RLE", "LRO", "RLO", "LRI", "RLI"} for each in seen)


def test_ends_of_lines_can_be_kept() -> None:
    """For a text of several lines."""
    assert shown("a\nb\x07", keep="\n") == "a\nb\\x07"
