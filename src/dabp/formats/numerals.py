"""Numbers in text: what counts as one, and many of them parsed at once. Every expression here takes linear time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.formats.large import pieces

_DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBER = re.compile(_DECIMAL)
"""Matches a finite decimal number."""

NUMBER_OR_INFINITY = re.compile(rf"(?:{_DECIMAL}|[+-]?inf(?:inity)?)".encode(), re.IGNORECASE)
"""Matches a finite or infinite number, as bytes."""

TOKEN = re.compile(rb"\S+")
"""Matches the text up to the next white space."""

MOST_EXACT = 2**53
"""Integers up to this size are float64 numbers."""

_PLAIN = b"0123456789 \t\n\r"
_INFINITY = re.compile(rb"(?<![^\s+-])inf(?!\S)")


def integer(text: str) -> int | None:
    """The integer that a word is, None if it is none or has more than 18 digits."""
    match = re.fullmatch("[+-]?0*([0-9]{1,18})", text)
    return None if match is None else -int(match[1]) if text[0] == "-" else int(match[1])


def decimal(value: float) -> str:
    """The shortest text of a finite number; integers below 2^53 without a point."""
    return str(int(value)) if value == int(value) and abs(value) < MOST_EXACT else repr(float(value))


def parse_list(text: str) -> NDArray[np.float64] | None:
    """The numbers of a text with white space between them, None if anything else is in it."""
    if not text.isascii():
        return None
    parts = [np.zeros(0)]
    for piece in pieces(text.encode("ascii")):
        if not piece.isspace():
            if (part := parse(piece)) is None:
                return None
            parts.append(part)
    return np.concatenate(parts).astype(np.float64, copy=False)


def parse(chunk: bytes) -> NDArray[Any] | None:
    """The numbers of a chunk that has some: int64 if all are integers below 2^63 - 1, otherwise float64.

    None if anything else is in the chunk.
    """
    if not chunk.translate(None, _PLAIN):
        numbers = np.fromstring(chunk, dtype=np.int64, sep=" ")
        # NumPy leaves 2^63 - 1 where a number is larger.
        return numbers if numbers.max() < 2**63 - 1 else np.array(chunk.split(), dtype=np.float64)
    if b"inf" in chunk:
        chunk = _INFINITY.sub(b"1e999", chunk)
    if chunk.translate(None, b"+-.eE\v\f" + _PLAIN):
        return None
    words = chunk.split()
    try:
        return np.array(words, dtype=np.float64 if chunk.translate(None, b"+-\v\f" + _PLAIN) else np.int64)
    except OverflowError:
        return np.array(words, dtype=np.float64)
    except ValueError:
        return None
