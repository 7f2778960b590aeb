"""The words of a ``.cfn`` file: quotes, commas and colons separate, the two kinds of brackets mean the same."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dabp.formats.comments import Blanking
from dabp.formats.large import pieces
from dabp.formats.numerals import NUMBER, integer, parse_list
from dabp.formats.text import Source

_WORD = re.compile(r'"([^"\n]*)"|([{}\[\]])|([^\s":,{}\[\]]+)')  # a quote without its second separates, too
DIGITS = "0123456789"
"""What sizes and indices start with, and names do not."""

_DENSE = re.compile(
    r'[\s,]*"([^"\s:,]+)"\s*:\s*\{\s*"scope"\s*:\s*\[((?:[\s,]*"[^"\s:,0-9][^"\s:,]*")+)\s*\]\s*,'
    r'\s*"costs"\s*:\s*\[([^\[\]{}"]*+)\]\s*\}'
)
SEPARATORS = str.maketrans('",:', "   ")
"""Translates what may stand between words to spaces."""

_TAGS = frozenset(
    ["problem", "name", "mustbe", "variables", "functions", "scope", "costs", "defaultcost", "type", "params"]
)


def _unquoted(word: str) -> str:
    """A word as it is between quotes; to toulbar2 separators separate there, too, so ``"type:"`` is the tag type."""
    bare = word.strip(" \t:,")
    return bare if bare in _TAGS else word


def text_pieces(source: Source) -> Iterator[str]:
    """The file as text without its comments, piece by piece; what is no text is refused where it stands."""
    decoder, blanking = codecs.getincrementaldecoder("utf-8-sig")(), Blanking(slashes=True)
    done, line = 0, 1
    for piece in pieces(source.content, b","):
        done += len(piece)
        blank = blanking(piece)
        try:
            text = decoder.decode(blank, final=done >= len(source.content))
        except UnicodeDecodeError as error:
            at, byte = line + error.object.count(b"\n", 0, error.start), error.object[error.start]
            raise source.error(f"this is not UTF-8 text (byte 0x{byte:02x})", at) from None
        if "\0" in text:
            at = line + text.count("\n", 0, text.index("\0"))
            raise source.error("this is not text (it has NUL bytes)", at)
        line += text.count("\n")
        yield text
        source.advance(done)
    source.release()


class Lexer:
    """One word at a time, or all the numbers up to a closing bracket at once."""

    def __init__(self, source: Source):
        self._source = source
        self._pieces = text_pieces(source)
        self._text = ""  # what is read and not yet done with
        self._ended = False
        self._at = 0
        self._peeked: tuple[str, int] | None = None
        self._counted = (0, 1)  # a place in the text and its line

    @property
    def line(self) -> int:
        """The line of the last word taken."""
        place, line = self._counted
        self._counted = (self._at, line + self._text.count("\n", place, self._at))
        return self._counted[1]

    def _more(self) -> bool:
        """Let go of what is done with and read on; False at the end of the file."""
        line = self.line
        rest = self._text[self._at :]
        # Twice as much each time that a word or list goes on, so that a long one is not copied often.
        parts, wanted = [rest], max(1, len(rest))
        while wanted > 0 and (part := next(self._pieces, None)) is not None:
            parts.append(part)
            wanted -= len(part)
        self._ended = wanted > 0 and len(parts) == 1
        self._text, self._at, self._counted = "".join(parts), 0, (0, line)
        return not self._ended

    def _scan(self) -> tuple[str, int] | None:
        while self._peeked is None:
            match = _WORD.search(self._text, self._at)
            if not self._ended and (match is None or self._may_go_on(match)):
                self._more()
                continue
            if match is None:
                return None
            quoted, bracket, plain = match.groups()
            self._peeked = (bracket or plain if quoted is None else _unquoted(quoted), match.end())
        return self._peeked

    def _may_go_on(self, match: re.Match[str]) -> bool:
        """Whether the word, or a quote that was passed over before it, may have its end in what is not yet read."""
        if match.end() == len(self._text):
            return True
        quote = self._text.find('"', self._at, match.start())
        return quote >= 0 and "\n" not in self._text[quote:]

    def peek(self) -> str | None:
        """The next word without taking it, None at the end."""
        found = self._scan()
        return None if found is None else found[0]

    def peek_any(self, letters: str) -> bool:
        """Whether the next word starts with one of these letters."""
        word = self.peek()
        return bool(word) and word[0] in letters  # type: ignore[index]

    def next(self) -> str:
        """Take the next word and return it."""
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
        """Take an opening bracket, which must be next."""
        word = self.next()
        if word not in ("{", "["):
            raise self._source.error(f"an opening bracket was expected, {word[:40]!r} found", self.line)

    def close(self) -> None:
        """Take a closing bracket, which must be next."""
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
        if not NUMBER.fullmatch(word) and word.lower() not in ("inf", "+inf", "-inf"):
            raise self._source.error(f"a number was expected, {word[:40]!r} found", self.line)
        return float(word)

    def integer(self, what: str) -> int:
        """The next word as an integer."""
        word = self.next()
        value = integer(word)
        if value is None:
            raise self._source.error(f"{what} was expected, {word[:40]!r} found", self.line)
        return value

    def dense_function(self) -> re.Match[str] | None:
        """The whole of the next function if it is of the commonest form, which is to be taken by `take`.

        Its groups are the name, the names of the scope in quotes, and the costs; none of them has spaces within.
        """
        return _DENSE.match(self._text, self._at)

    def line_of(self, match: re.Match[str]) -> int:
        """The line on which its scope begins."""
        return self.line + self._text.count("\n", self._at, match.start(2))

    def take(self, match: re.Match[str]) -> None:
        """Go on after a function that `dense_function` found."""
        self._peeked, self._at = None, match.end()

    def numbers(self) -> NDArray[np.float64]:
        """Every number up to the closing bracket, which is taken."""
        self._peeked = None
        bracket = re.compile(r"[{}\[\]]")
        while (end := bracket.search(self._text, self._at)) is None and self._more():
            pass
        if end is None or end.group() in "{[":
            raise self._source.error("a list of costs has no end", self.line)
        text = self._text[self._at : end.start()].translate(SEPARATORS)
        costs = parse_list(text)
        if costs is None:
            costs = np.array([self.number(word) for word in text.split()])
        if np.isnan(costs).any():
            raise self._source.error("a cost is not a number", self.line)
        self._at = end.end()
        return costs
