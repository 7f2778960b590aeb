"""Files of numbers between white space, parsed as one array: what makes large files quick to read."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.comments import Blanking
from dabp.formats.large import pieces
from dabp.formats.numerals import MOST_EXACT, NUMBER_OR_INFINITY, TOKEN, parse
from dabp.formats.text import Source

WORD = -(2**63)
"""Stands in `Tokens.numbers` for a token that is not a number."""

FORM = 16
"""Functions of one form in a row after which `Tokens.repeats` looks for more of them."""

_GLUED = re.compile(rb"[+-]?[0-9]+(?:[+-][0-9]+)+")


class Tokens:
    """The tokens of a file as numbers, read one after another or as an array.

    Attributes
    ----------
    title
        The first token, as text.
    numbers
        All tokens after it: int32 if every number is a small integer, int64 if every one is an integer, otherwise
        float64. Large files are mostly small integers, and their numbers are most of the memory that reading takes.
    words
        Index → text of the tokens that are not numbers.
    header
        Large integers among this number of first tokens are kept apart, as 0 in `numbers`; `take` returns them. A
        bound in the header does not double the memory of all other numbers.
    position
        The index of the next token to take.
    source
        The file.
    first_line
        The line of the first token.
    """

    def __init__(self, source: Source, *, trailing_comments: bool = False, header: int = 0):
        self.source, self._trailing, self.header = source, trailing_comments, header
        self._glued: list[int] = []  # indices of numbers without a space before them
        self.words: dict[int, str] = {}
        self._wide: dict[int, int] = {}  # index → large integer of the header
        self.position = 0
        self.first_line = 1
        chunks = self._chunks()
        for chunk in chunks:
            first = TOKEN.search(chunk)
            if first is not None:
                break
            self.first_line += chunk.count(b"\n")
        else:
            raise source.error("the file is empty")
        self.first_line += chunk.count(b"\n", 0, first.start())
        self.title = first.group()[:1000].decode("utf-8", "replace")
        self.numbers: NDArray[Any] = self._parse(chain([chunk[first.end() :]], chunks))

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

    def _parse(self, chunks: Iterator[bytes]) -> NDArray[Any]:
        # As long as the most tokens that the bytes can hold; pages that are never written to take no memory.
        most = len(self.source.content) // 2 + 2
        result: NDArray[Any] = np.empty(most, dtype=np.int32)
        count = 0
        for chunk in chunks:
            if not chunk or chunk.isspace():
                continue
            numbers = parse(chunk)
            part = self._parse_slowly(chunk, count) if numbers is None else numbers
            if count == 0:
                self._set_apart(part)
            needed = np.result_type(result.dtype, np.dtype(np.int32) if _small(part) else part.dtype)
            if needed != result.dtype:
                narrow, result = result, np.empty(most, dtype=needed)
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
                parts = [_number(part) for part in re.findall(rb"[+-]?[0-9]+", token)]
                self._glued.extend(range(count + len(values) + 1, count + len(values) + len(parts)))
                values.extend(parts)
                continue
            self.words[count + len(values)] = token[:1000].decode("utf-8", "replace")
            if len(self.words) > 100_000:
                reason = "this is not a file of numbers, as it should be after its first word"
                raise self.source.error(reason, self.first_line)
            values.append(WORD)
        return np.array(values, dtype=np.float64 if any(isinstance(v, float) for v in values) else np.int64)

    def release(self) -> None:
        """Free all but the title, after everything is taken."""
        self.numbers = self.numbers[:0].copy()
        self.source.release()

    def line(self, index: int) -> int:
        """The line of a token; reads the file again, for messages only."""
        index = min(index, len(self) - 1)
        remaining = index - bisect_right(self._glued, index)
        number, titled = 1, False
        for chunk in self._chunks():  # a list of all lines may not fit into memory
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
        """An error at the line of a token; if the token is a word, that is the message."""
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

        At most `most`, and all whole. Looks at few pieces first, so that the call is quick where nothing repeats.
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
        """The next `count` numbers."""
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

    def exact(self, numbers: NDArray[Any], index_of: Callable[[int], int]) -> NDArray[np.float64]:
        """Numbers as float64; integers beyond 2^53, which would be rounded, are refused at the token `index_of` names.

        Among floats 2^53 is refused, too: the file may have had the next integer.
        """
        if numbers.dtype != np.int32:
            most = MOST_EXACT if numbers.dtype == np.int64 else MOST_EXACT - 1
            wrong = (numbers > most) | (numbers < -most)
            wrong &= np.isfinite(numbers)
            if wrong.any():
                at = int(np.argmax(wrong))
                shown = f"{numbers[at]:g}" if numbers.dtype == np.float64 else numbers[at]
                raise self.error(f"{shown} is beyond 2^53, where sums of costs are not exact", index_of(at))
        return numbers.astype(np.float64)


def _number(token: bytes) -> float:
    value = float(token)
    digits = token.lstrip(b"+-")
    if not digits.isdigit() or abs(value) >= 2**62:
        return value
    size = int(digits.lstrip(b"0")[:20] or b"0")  # Python refuses thousands of zeros
    return -size if token.startswith(b"-") else size


def _small(numbers: NDArray[Any]) -> bool:
    """Whether these are integers of 32 bits, with -2^31 left out."""
    if numbers.dtype == np.int32:
        return True
    return numbers.dtype == np.int64 and bool(numbers.min(initial=0) > -(2**31) and numbers.max(initial=0) < 2**31)
