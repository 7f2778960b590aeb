"""Files of numbers between white space, parsed as one array: what makes large files quick to read."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.errors import FormatError
from dabp.formats.text import Source

WORD = -(2**63)
"""Stands in `Tokens.numbers` for a token that is not a number."""

_CHUNK = 2**20
_MOST_WORDS = 100_000
_NUMBER = re.compile(rb"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?|[+-]?inf(?:inity)?", re.IGNORECASE)
_TOKEN = re.compile(rb"\S+")
_SPACE = re.compile(rb"\s")
_COMMENT = re.compile(rb"^[ \t]*#[^\n]*", re.MULTILINE)


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
    position
        The index of the next token to take.
    """

    def __init__(self, source: Source):
        self._source = source
        data = source.data
        if data.startswith(b"\xef\xbb\xbf"):
            data = b"   " + data[3:]
        if b"#" in data:  # comment lines become spaces, so that places in the file stay
            data = _COMMENT.sub(lambda match: b" " * len(match.group()), data)
        self._data = data
        self.words: dict[int, str] = {}
        self.position = 0
        first = _TOKEN.search(data)
        if first is None:
            raise source.error("the file is empty")
        self.title = first.group()[:1000].decode("utf-8", "replace")
        self._start = first.end()
        self.numbers: NDArray[Any] = self._parse(data)

    def __len__(self) -> int:
        return len(self.numbers)

    def _parse(self, data: bytes) -> NDArray[Any]:
        # Room for the most tokens that the bytes can hold; what is never written to is never resident.
        room = (len(data) - self._start) // 2 + 2
        result: NDArray[Any] = np.empty(room, dtype=np.int32)
        count, start = 0, self._start
        while start < len(data):
            end = len(data)
            if start + _CHUNK < end:
                match = _SPACE.search(data, start + _CHUNK)
                end = match.end() if match else end
            chunk = data[start:end]
            start = end
            if chunk.isspace():
                continue
            part = None if result.dtype == np.float64 else _parse_quickly(chunk, np.dtype(np.int64))
            if part is None:
                part = _parse_quickly(chunk, np.dtype(np.float64))
            if part is None:
                part = self._parse_slowly(chunk, count)
            needed = np.result_type(result.dtype, np.dtype(np.int32) if _small(part) else part.dtype)
            if needed != result.dtype:
                narrow, result = result, np.empty(room, dtype=needed)
                result[:count] = narrow[:count]
            result[count : count + len(part)] = part
            count += len(part)
        return result[:count]

    def _parse_slowly(self, chunk: bytes, count: int) -> NDArray[Any]:
        values: list[float] = []
        for token in chunk.split():
            if _NUMBER.fullmatch(token):
                number = float(token)
                values.append(int(token) if token.lstrip(b"+-").isdigit() and abs(number) < 2**62 else number)
                continue
            self.words[count + len(values)] = token[:1000].decode("utf-8", "replace")
            if len(self.words) > _MOST_WORDS:
                line = self._data.count(b"\n", 0, self._start) + 1
                raise self._source.error("this is not a file of numbers, as it should be after its first word", line)
            values.append(WORD)
        return np.array(values, dtype=np.float64 if any(isinstance(v, float) for v in values) else np.int64)

    def release(self) -> None:
        """Forget everything but the title, once all is taken and memory is short."""
        self.numbers, self._data = self.numbers[:0].copy(), b""
        self._source.release()

    def line(self, index: int) -> int:
        """The line of a token; walks the file, for messages only."""
        remaining = min(index, len(self) - 1)
        first = self._data.count(b"\n", 0, self._start) + 1
        for number, line in enumerate(self._data[self._start :].split(b"\n"), first):
            remaining -= len(line.split())
            if remaining < 0:
                return number
        return first

    def error(self, message: str, index: int) -> FormatError:
        """An error at the line of a token; if that is a word, this is what is wrong with it."""
        if index in self.words:
            message = f"a number was expected, {self.words[index][:40]!r} found"
        return self._source.error(message, self.line(index))

    def ended(self, what: str) -> FormatError:
        """The error for running out of tokens, or for the first word before that."""
        if self.words:
            return self.error("", min(self.words))
        return self.error(f"the file ends where {what} should follow", len(self) - 1)

    def take(self, count: int, what: str) -> NDArray[Any]:
        """The next so many numbers."""
        start, self.position = self.position, self.position + count
        if self.position > len(self):
            raise self.ended(what)
        taken = self.numbers[start : self.position]
        if self.words and (wrong := np.flatnonzero(taken == WORD)).size:
            raise self.error(f"{what} cannot be so small", start + int(wrong[0]))
        return taken

    def integer(self, what: str) -> int:
        """The next number, which must be an integer of 0 or more."""
        value = float(self.take(1, what)[0])
        if not 0 <= value < 2**62 or value != int(value):
            raise self.error(f"{what} should be an integer of 0 or more, {value:g} found", self.position - 1)
        return int(value)


def _small(numbers: NDArray[Any]) -> bool:
    """Whether these are integers of 32 bits, with room for a sign."""
    return numbers.dtype == np.int64 and bool(numbers.min(initial=0) > -(2**31) and numbers.max(initial=0) < 2**31)


def _parse_quickly(chunk: bytes, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """The numbers of a chunk, None if it has anything else."""
    plain = not chunk.translate(None, b"0123456789 \t\n\r")
    letters = np.frombuffer(chunk, dtype=np.uint8)
    if not plain and not _signs_lead(letters):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", DeprecationWarning)  # older NumPy only warns of other words
            numbers = np.fromstring(chunk, dtype=dtype, sep=" ")
    except (ValueError, DeprecationWarning):
        return None
    if plain:
        return numbers
    # NumPy takes "1.5.2" for two numbers and "nan" for one
    spaces = np.isin(letters, np.frombuffer(b" \t\n\r\v\f", dtype=np.uint8), kind="table")
    count = int((spaces[:-1] & ~spaces[1:]).sum()) + (not spaces[0])
    return numbers if len(numbers) == count and not (dtype == np.float64 and np.isnan(numbers).any()) else None


def _signs_lead(letters: NDArray[np.uint8]) -> bool:
    """Whether each sign stands at the start of a number or exponent, where NumPy takes some others for zeros."""
    signs = np.flatnonzero((letters == ord("-")) | (letters == ord("+")))
    if not len(signs):
        return True
    padded = np.concatenate([[ord(" ")], letters, [ord(" ")]])
    before, after = padded[signs], padded[signs + 2]
    leading = (before <= ord(" ")) | (before == ord("e")) | (before == ord("E"))
    followed = ((after >= ord("0")) & (after <= ord("9"))) | (after == ord(".")) | (after == ord("i"))
    return bool((leading & followed).all())
