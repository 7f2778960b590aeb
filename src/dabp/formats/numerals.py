"""Numbers in text: what counts as one, and many of them parsed at once. Every expression here takes linear time."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.formats.large import PIECE

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
_WIDE = np.finfo(np.longdouble).nmant == 63 and np.dtype(np.longdouble).itemsize == 16
"""Whether long doubles are those of x86: 64 bits of mantissa in the first eight bytes of sixteen."""

_POWERS: NDArray[Any] = np.cumprod([1] + [10] * (27 if _WIDE else 22), dtype=np.longdouble if _WIDE else np.float64)
"""The powers of ten that are exact in a long double, or where those are others, in a float64."""


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
    data = text.encode("ascii")
    if len(data) < PIECE // 64:  # the words one by one: quicker for few
        if data.strip() and not data.translate(None, _PLAIN):
            numbers = np.fromstring(data, dtype=np.int64, sep=" ")
            if numbers.max() < MOST_EXACT:
                return numbers.astype(np.float64)
        try:
            return None if "_" in text else np.array(text.split(), dtype=np.float64)
        except ValueError:
            return None
    parts, start = [np.zeros(0)], 0
    while start < len(data):
        end = start + PIECE
        while end < len(data) and not data[end : end + 1].isspace():
            end += 1
        if not (piece := data[start:end]).isspace():
            if (part := parse(piece)) is None:
                return None
            parts.append(part.astype(np.float64, copy=False))
        start = end
    return np.concatenate(parts)


def parse(chunk: bytes) -> NDArray[Any] | None:
    """The numbers of a chunk that has some: int64 if all are integers below 2^63 - 1, otherwise float64.

    None if anything else is in the chunk.
    """
    if not chunk.translate(None, _PLAIN):
        return _fitting(chunk, np.fromstring(chunk, dtype=np.int64, sep=" "))
    if b"inf" in chunk:
        chunk = _INFINITY.sub(b"1e999", chunk)
    if chunk.translate(None, b"+-.eE\v\f" + _PLAIN):
        return None
    letters = np.frombuffer(chunk, dtype=np.uint8)
    gaps = np.concatenate([[True], letters <= ord(" "), [True]])
    exponents = np.flatnonzero((letters | 32) == ord("e"))
    gaps[exponents + 1] = True
    # Mantissas and exponents are words: where each begins and ends, and how many digits it has.
    first = np.flatnonzero(~gaps[1:-1] & gaps[:-2])
    last = np.flatnonzero(~gaps[1:-1] & gaps[2:])
    digits, places = last - first + 1, np.zeros(len(first), dtype=np.int64)
    signs = np.flatnonzero((letters == ord("-")) | (letters == ord("+")))
    signed = np.searchsorted(first, signs)
    if len(signs) and (signed[-1] == len(first) or (first[signed] != signs).any()):
        return None
    digits[signed] -= 1
    points = np.flatnonzero(letters == ord("."))
    pointed = np.searchsorted(last, points)
    digits[pointed] -= 1
    places[pointed] = last[pointed] - points
    if digits.min(initial=1) < 1 or (pointed[1:] == pointed[:-1]).any():
        return None
    powers = np.searchsorted(first, exponents)
    scaled = powers - 1
    if len(exponents):
        if powers[-1] == len(first) or scaled[0] < 0:
            return None
        touching = (first[powers] == exponents + 1) & (last[scaled] == exponents - 1)
        if not touching.all() or np.isin(powers, scaled).any() or np.isin(powers, pointed).any():
            return None
    numbers = np.fromstring(chunk.translate(bytes.maketrans(b"eE", b"  "), b"."), dtype=np.int64, sep=" ")
    if not len(points) and not len(exponents):
        return _fitting(chunk, numbers)
    scale = -places
    scale[scaled] += np.clip(numbers[powers], -9999, 9999)
    scale, starts, mantissas = (np.delete(each, powers) for each in (scale, first, numbers))
    return _scaled(chunk, starts, mantissas, scale)


def _fitting(chunk: bytes, numbers: NDArray[np.int64]) -> NDArray[Any]:
    """The numbers, as floats if one is at an end of its range, where NumPy leaves larger ones."""
    fits = numbers.max() < 2**63 - 1 and numbers.min() > -(2**63)
    return numbers if fits else np.array(chunk.split(), dtype=np.float64)


def _scaled(
    chunk: bytes, starts: NDArray[np.int64], mantissas: NDArray[np.int64], scale: NDArray[np.int64]
) -> NDArray[np.float64]:
    """The floats nearest to mantissas · 10^scale, whose texts begin at `starts`.

    Mantissa and power are exact long doubles, so that the quotient or product is rounded once to 64 bits. Rounding it
    again to 53 bits gives the nearest float unless the 64 bits are half-way between two floats: `float` parses those.
    Without such long doubles, mantissas below 2^53 and powers up to 22 give the nearest float64 at once.
    """
    size = np.abs(mantissas)
    most = 2**63 - 1 if _WIDE else MOST_EXACT
    odd = (np.abs(scale) >= len(_POWERS)) | (size >= most) | (size < 0)
    inside = np.where(odd, 0, scale)
    wide = size.astype(_POWERS.dtype) * _POWERS[np.maximum(inside, 0)]
    wide /= _POWERS[np.maximum(-inside, 0)]
    if _WIDE:
        odd |= (wide.view(np.uint64)[::2] & np.uint64(0x7FF)) == 0x400
    result: NDArray[np.float64] = wide.astype(np.float64)
    negative = np.frombuffer(chunk, dtype=np.uint8)[starts] == ord("-")
    result[negative] *= -1
    rest = np.flatnonzero(odd)
    if len(rest) > len(odd) // 8:
        return np.array(chunk.split(), dtype=np.float64)
    for i in rest.tolist():
        result[i] = float(TOKEN.match(chunk, int(starts[i]))[0])  # type: ignore[index]
    return result
