"""Files of numbers between white space, parsed as one array: what makes large files quick to read."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.comments import Blanking
from dabp.formats.large import pieces
from dabp.formats.numbers import NUMBER_OR_INFINITY, parse_quickly
from dabp.formats.text import Source

WORD = -(2**63)
"""Stands in `Tokens.numbers` for a token that is not a number."""

FORM = 16
"""Functions of one form in a row from which on more of them are looked for in one go."""

_MOST_WORDS = 100_000
_TOKEN = re.compile(rb"\S+")
_GLUED = re.compile(rb"[+-]?[0-9]+(?:[+-][0-9]+)+")
_SIGNED = re.compile(rb"[+-]?[0-9]+")


class Tokens:
    """The tokens of a file as numbers, read one after another or as an array.

    Attributes
    ----------
    title
        The first token, as text.
    numbers
        All tokens after it: int32 if every number is a small integer, int64 if every one is an integer, otherwise
        float64; large files are mostly small integers, and their numbers are most of what reading them needs.
    words
        Index → text of those that are not numbers.
    header
        Large integers among so many first ones are kept apart, 0 in `numbers`; `take` gives them: a bound in the
        header must not make all others take twice the room.
    position
        The index of the next token to take.
    source
        The file.
    """

    def __init__(self, source: Source, *, trailing_comments: bool = False, header: int = 0):
        self.source, self._trailing, self.header = source, trailing_comments, header
        self._glued: list[int] = []  # indices of numbers that no space parts from the one before
        self.words: dict[int, str] = {}
        self._wide: dict[int, int] = {}  # index → number, of large ones among the first
        self.position = 0
        self.first_line = 1
        """The line of the first token."""
        chunks = self._chunks()
        for chunk in chunks:
            first = _TOKEN.search(chunk)
            if first is not None:
                break
            self.first_line += chunk.count(b"\n")
        else:
            raise source.error("the file is empty")
        self.first_line += chunk.count(b"\n", 0, first.start())
        self.title = first.group()[:1000].decode("utf-8", "replace")
        self.numbers: NDArray[Any] = self._parse(chunk[first.end() :], chunks)

    def _chunks(self) -> Iterator[bytes]:
        """The file without its comments, in pieces of whole tokens."""
        blanking, done = Blanking(trailing=self._trailing), 0
        for piece in pieces(self.source.content):
            chunk = blanking(b"   " + piece[3:] if done == 0 and piece.startswith(b"\xef\xbb\xbf") else piece)
            done += len(piece)
            yield chunk
            self.source.advance(done)

    def __len__(self) -> int:
        return len(self.numbers)

    def _parse(self, first: bytes, others: Iterator[bytes]) -> NDArray[Any]:
        # Room for the most tokens that the bytes can hold; what is never written to is never resident.
        room = len(self.source.content) // 2 + 2
        result: NDArray[Any] = np.empty(room, dtype=np.int32)
        count = 0
        for chunk in chain([first], others):
            if not chunk or chunk.isspace():
                continue
            part = None if result.dtype == np.float64 else parse_quickly(chunk, np.dtype(np.int64))
            if part is None:
                part = parse_quickly(chunk, np.dtype(np.float64))
            if part is None:
                part = self._parse_slowly(chunk, count)
            if count == 0:
                self._set_apart(part)
            needed = np.result_type(result.dtype, np.dtype(np.int32) if _small(part) else part.dtype)
            if needed != result.dtype:
                narrow, result = result, np.empty(room, dtype=needed)
                result[:count] = narrow[:count]
            result[count : count + len(part)] = part
            count += len(part)
        return result[:count]

    def _set_apart(self, first: NDArray[Any]) -> None:
        """Keep large integers among the first numbers of the file, with 0 in their place."""
        if first.dtype == np.int64 and not self.words:
            large = np.flatnonzero(np.abs(first[: self.header]) >= 2**31)
            self._wide = dict(zip(large.tolist(), first[large].tolist(), strict=True))
            first[large] = 0

    def _parse_slowly(self, chunk: bytes, count: int) -> NDArray[Any]:
        values: list[float] = []
        for token in chunk.split():
            if NUMBER_OR_INFINITY.fullmatch(token):
                values.append(_number(token))
                continue
            if _GLUED.fullmatch(token):  # toulbar2 reads "29-1" as two integers
                parts = [_number(part) for part in _SIGNED.findall(token)]
                self._glued.extend(range(count + len(values) + 1, count + len(values) + len(parts)))
                values.extend(parts)
                continue
            self.words[count + len(values)] = token[:1000].decode("utf-8", "replace")
            if len(self.words) > _MOST_WORDS:
                reason = "this is not a file of numbers, as it should be after its first word"
                raise self.source.error(reason, self.first_line)
            values.append(WORD)
        return np.array(values, dtype=np.float64 if any(isinstance(v, float) for v in values) else np.int64)

    def release(self) -> None:
        """Forget everything but the title, once all is taken and memory is short."""
        self.numbers = self.numbers[:0].copy()
        self.source.release()

    def line(self, index: int) -> int:
        """The line of a token; walks the file, for messages only."""
        index = min(index, len(self) - 1)
        remaining = index - bisect_right(self._glued, index)
        number, titled = 1, False
        for chunk in self._chunks():  # as a list of all lines may not fit
            count = len(chunk.split()) - (not titled and not chunk.isspace())
            if remaining < count:
                for line in chunk.split(b"\n"):
                    remaining -= len(line.split()) - (not titled and bool(line.strip()))
                    titled |= bool(line.strip())
                    if remaining < 0:
                        return number
                    number += 1
            titled |= not chunk.isspace()
            remaining, number = remaining - count, number + chunk.count(b"\n")
        return self.first_line

    def error(self, message: str, index: int) -> FormatError:
        """An error at the line of a token; if that is a word, this is what is wrong with it."""
        if index in self.words:
            message = f"a number was expected, {self.words[index][:40]!r} found"
        return self.source.error(message, self.line(index))

    def ended(self, what: str) -> FormatError:
        """The error for running out of tokens, or for the first word before that."""
        if self.words:
            return self.error("", min(self.words))
        return self.error(f"the file ends where {what} should follow", len(self) - 1)

    def repeats(self, position: int, length: int, parts: tuple[int, ...], most: int) -> int:
        """How often the tokens from `position` on come in pieces of this length that agree with the first in `parts`.

        Where a file repeats a form, its functions need not be walked one by one. At most `most`, and all whole; looks
        at a few first, so that to ask where nothing repeats takes little.
        """
        most = min(most, (len(self) - position) // length)
        found, block = 0, 2
        while found < most:
            starts = position + length * np.arange(found, min(most, found + block))
            same = np.logical_and.reduce(
                [self.numbers[starts + part] == self.numbers[position + part] for part in parts]
            )
            if not same.all():
                return found + int(np.argmin(same))
            found, block = found + len(starts), 2 * block
        return most

    def take(self, count: int, what: str) -> NDArray[Any]:
        """The next so many numbers."""
        start, self.position = self.position, self.position + count
        if self.position > len(self):
            raise self.ended(what)
        taken = self.numbers[start : self.position]
        if self._wide and start < self.header:
            taken = taken.astype(np.result_type(taken.dtype, np.int64))
            for index in self._wide.keys() & range(start, self.position):
                taken[index - start] = self._wide[index]
        if self.words and (wrong := np.flatnonzero(taken == WORD)).size:
            raise self.error(f"{what} cannot be so small", start + int(wrong[0]))
        return taken

    def integer(self, what: str) -> int:
        """The next number, which must be an integer of 0 or more."""
        value = float(self.take(1, what)[0])
        if not 0 <= value < 2**62 or value != int(value):
            raise self.error(f"{what} should be an integer of 0 or more, {value:g} found", self.position - 1)
        return int(value)


def _number(token: bytes) -> float:
    """An integer, if it fits in 64 bits, otherwise a float."""
    value = float(token)
    digits = token.lstrip(b"+-")
    if not digits.isdigit() or abs(value) >= 2**62:
        return value
    size = int(digits.lstrip(b"0")[:20] or b"0")  # Python refuses thousands of zeros
    return -size if token.startswith(b"-") else size


def _small(numbers: NDArray[Any]) -> bool:
    """Whether these are integers of 32 bits, with room for a sign."""
    return numbers.dtype == np.int64 and bool(numbers.min(initial=0) > -(2**31) and numbers.max(initial=0) < 2**31)
