"""Names as people may see them: what would move a cursor, turn the text around or hide is written out instead."""

from __future__ import annotations

import unicodedata


def shown(text: str, keep: str = "") -> str:
    r"""Text that is safe to print: ``\x1b`` for an escape, ``\u202e`` for a mark that turns the direction.

    `keep` are characters that stay nevertheless, such as the ends of lines of a text of several.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(each if each in keep or not _harmful(each) else ascii(each)[1:-1] for each in text)


def _harmful(character: str) -> bool:
    """Whether a character is a direction mark, a tag that no font shows, a control character or half a character."""
    marks = "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff"
    hidden = ("Cc", "Cs", "Zl", "Zp")
    return character in marks or 0xE0000 <= ord(character) < 0xE0080 or unicodedata.category(character) in hidden
