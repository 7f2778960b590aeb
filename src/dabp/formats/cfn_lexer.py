"""The words of a ``.cfn`` file: quotes, commas and colons separate, the two kinds of brackets mean the same."""

from __future__ import annotations

import re

import numpy as np
from numpy.typing import NDArray

from dabp.formats.comments import without_comments
from dabp.formats.numbers import NUMBER, integer, parse_list
from dabp.formats.text import Source

_WORD = re.compile(r'"([^"\n]*)"|([{}\[\]])|([^\s":,{}\[\]]+)')  # a quote without its second separates, too
DIGITS = "0123456789"
"""What sizes and indices start with, and names do not."""

_BRACKET = re.compile(r"[{}\[\]]")
_SEPARATORS = str.maketrans('",:', "   ")


TAGS = frozenset(
    ("problem", "name", "mustbe", "variables", "functions", "scope", "costs", "defaultcost", "type", "params")
)
"""What the format itself names."""


def _unquoted(word: str) -> str:
    """A word as it is between quotes; to toulbar2 separators separate there, too, so ``"type:"`` is the tag type."""
    bare = word.strip(" \t:,")
    return bare if bare in TAGS else word


class Lexer:
    """One word at a time, or all the numbers up to a closing bracket at once."""

    def __init__(self, source: Source):
        self._source = source
        source.data = without_comments(source.data, slashes=True)
        self._text = source.text()
        source.release()
        self._at = 0
        self._peeked: tuple[str, int] | None = None
        self._counted = (0, 1)  # a place in the text and its line

    @property
    def line(self) -> int:
        """The line reached."""
        place, line = self._counted
        self._counted = (self._at, line + self._text.count("\n", place, self._at))
        return self._counted[1]

    def _scan(self) -> tuple[str, int] | None:
        """The next word and where it ends."""
        if self._peeked is None:
            match = _WORD.search(self._text, self._at)
            if match is None:
                return None
            quoted, bracket, plain = match.groups()
            self._peeked = (bracket or plain if quoted is None else _unquoted(quoted), match.end())
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
        if not NUMBER.fullmatch(word):
            raise self._source.error(f"a number was expected, {word[:40]!r} found", self.line)
        return float(word)

    def integer(self, what: str) -> int:
        """The next word as an integer."""
        word = self.next()
        value = integer(word)
        if value is None:
            raise self._source.error(f"{what} was expected, {word[:40]!r} found", self.line)
        return value

    def numbers(self) -> NDArray[np.float64]:
        """Every number up to the closing bracket, which is taken."""
        self._peeked = None
        end = _BRACKET.search(self._text, self._at)
        if end is None or end.group() in "{[":
            raise self._source.error("a list of costs has no end", self.line)
        text = self._text[self._at : end.start()].translate(_SEPARATORS)
        costs = parse_list(text)
        if costs is None:
            costs = np.array([self.number(word) for word in text.split()])
        if np.isnan(costs).any():
            raise self._source.error("a cost is not a number", self.line)
        self._at = end.end()
        return costs
