"""The words of a ``.cfn`` file: quotes, commas and colons separate, the two kinds of brackets mean the same."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from dabp.formats.text import Source

_COMMENT = re.compile(r"^[ \t]*#[^\n]*|//[^\n]*", re.MULTILINE)
_WORD = re.compile(r'[\s:,]*(?:"([^"\n]*)"|([{}\[\]])|([^\s":,{}\[\]]+))')
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?")
DIGITS = "0123456789"
"""What sizes and indices start with, and names do not."""

_BRACKET = re.compile(r"[{}\[\]]")
_SEPARATORS = str.maketrans('",:', "   ")


class Lexer:
    """One word at a time, or all the numbers up to a closing bracket at once."""

    def __init__(self, source: Source):
        self._source = source
        text = source.text()
        if "#" in text or "//" in text:  # comments become spaces, so that lines stay
            text = _COMMENT.sub(lambda match: " " * len(match.group()), text)
        self._text = text
        self._at = 0
        self._peeked: tuple[str, int, bool] | None = None
        self._counted = (0, 1)  # a place in the text and its line

    @property
    def line(self) -> int:
        """The line reached."""
        place, line = self._counted
        self._counted = (self._at, line + self._text.count("\n", place, self._at))
        return self._counted[1]

    def _scan(self) -> tuple[str, int, bool] | None:
        """The next word, where it ends, and whether it was quoted."""
        if self._peeked is None:
            at = self._at
            while (match := _WORD.match(self._text, at)) is None:
                rest = self._text[at:].lstrip(" \t\r\n\f\v:,")
                if not rest:
                    return None
                at = len(self._text) - len(rest) + 1  # a stray quote separates, too
            quoted, bracket, plain = match.groups()
            word = next(one for one in (quoted, bracket, plain) if one is not None)
            self._peeked = (word.strip() if quoted is not None else word, match.end(), quoted is not None)
        return self._peeked

    def peek(self) -> str | None:
        """The next word without taking it, None at the end."""
        found = self._scan()
        return None if found is None else found[0]

    def peek_digit(self) -> bool:
        """Whether the next word starts with a digit, as sizes and indices do."""
        word = self.peek()
        return word is not None and word != "" and word[0] in DIGITS

    def peek_cost(self) -> bool:
        """Whether the next word starts like a number."""
        word = self.peek()
        return word is not None and word[:1] in "0123456789-+." and word != ""

    def next(self) -> str:
        """The next word."""
        found = self._scan()
        if found is None:
            self._at = len(self._text)
            raise self._source.error("the file ends early", self.line)
        self._peeked = None
        self._at = found[1]
        return found[0]

    def word(self, what: str) -> str:
        """The next word, which must not be a bracket or empty."""
        word = self.next()
        if word in ("", "{", "}", "[", "]"):
            raise self._source.error(f"{what} was expected, {word!r} found", self.line)
        return word

    def open(self) -> None:
        """An opening bracket."""
        word = self.next()
        if word not in ("{", "["):
            raise self._source.error(f"an opening bracket was expected, {word[:40]!r} found", self.line)

    def close(self) -> None:
        """A closing bracket."""
        word = self.next()
        if word not in ("}", "]"):
            raise self._source.error(f"a closing bracket was expected, {word[:40]!r} found", self.line)

    def closing(self) -> bool:
        """Take a closing bracket if it is next."""
        word = self.peek()
        if word in ("}", "]"):
            self.next()
            return True
        if word is None:
            self.next()
        return False

    def number(self, word: str) -> float:
        """A word as a number."""
        if word.lower() in ("inf", "+inf"):
            return np.inf
        if word.lower() == "-inf":
            return -np.inf
        if not _NUMBER.fullmatch(word):
            raise self._source.error(f"a number was expected, {word[:40]!r} found", self.line)
        return float(word)

    def integer(self, what: str) -> int:
        """The next word as an integer."""
        word = self.next()
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", word):
            raise self._source.error(f"{what} was expected, {word[:40]!r} found", self.line)
        return int(word)

    def numbers(self) -> NDArray[np.float64]:
        """Every number up to the closing bracket, which is taken."""
        self._peeked = None
        end = _BRACKET.search(self._text, self._at)
        if end is None or end.group() in "{[":
            raise self._source.error("a list of costs has no end", self.line)
        words = self._text[self._at : end.start()].translate(_SEPARATORS).split()
        try:
            costs = np.array(words, dtype=np.float64)
        except ValueError:
            costs = np.array([self.number(word) for word in words])
        if np.isnan(costs).any():
            raise self._source.error("a cost is not a number", self.line)
        self._at = end.end()
        return costs
