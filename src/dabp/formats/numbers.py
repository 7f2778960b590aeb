"""Numbers in text: what counts as one, and many of them parsed at once. Every expression here takes linear time."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

_DECIMAL = r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
NUMBER = re.compile(_DECIMAL)
"""A finite decimal number, wholly."""

NUMBER_OR_INFINITY = re.compile(rf"(?:{_DECIMAL}|[+-]?inf(?:inity)?)".encode(), re.IGNORECASE)
"""The same as bytes, or an infinite one."""

_INTEGER = re.compile(r"[+-]?0*([0-9]{1,18})")
_PIECE = 2**20
_PLAIN = b"0123456789 \t\n\r"
_EXACT_DIGITS = 15
_POWERS = 10.0 ** np.arange(_EXACT_DIGITS + 1)


def integer(text: str) -> int | None:
    """The integer that a word is, None if it is none or has more than 18 digits."""
    match = _INTEGER.fullmatch(text)
    return None if match is None else -int(match[1]) if text[0] == "-" else int(match[1])


def parse_list(text: str) -> NDArray[np.float64] | None:
    """The numbers of a text with white space between them, None if anything else is in it."""
    if len(text) < _PIECE // 64:  # quicker for few, and takes far more memory for many
        if text.isascii() and (whole := _whole(text.encode("ascii"))) is not None:
            return whole
        try:
            words = text.split()
            return None if "_" in text else np.array(words, dtype=np.float64) if words else np.zeros(0)
        except ValueError:
            return None
    parts, start = [], 0
    while start < len(text):
        end = start + _PIECE
        while end < len(text) and not text[end].isspace():
            end += 1
        piece = text[start:end]
        start = end
        if not piece.strip():
            continue
        part = parse_quickly(piece.encode("utf-8"), np.dtype(np.float64)) if piece.isascii() else None
        if part is None:
            return None
        parts.append(part)
    return np.concatenate([np.zeros(0), *parts])


def parse_quickly(chunk: bytes, dtype: np.dtype[Any]) -> NDArray[Any] | None:
    """The numbers of a chunk, which has some, None if anything else is in it."""
    plain = not chunk.translate(None, _PLAIN)
    if not plain and dtype == np.float64 and (decimals := _decimals(chunk)) is not None:
        return decimals
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


def _whole(chunk: bytes) -> NDArray[np.float64] | None:
    """Numbers of digits alone, if there are any and none is too large to be a float as it is."""
    if chunk.translate(None, _PLAIN) or not chunk or chunk.isspace():
        return None
    numbers = np.fromstring(chunk, dtype=np.int64, sep=" ")
    return numbers.astype(np.float64) if numbers.max() < 2**53 else None


def _decimals(chunk: bytes) -> NDArray[np.float64] | None:
    """Numbers of at most 15 digits and a point, eight times as fast as others; None if anything else is in the chunk.

    Digits and power of ten are exact then, so that their quotient is the float that is nearest to the decimal.
    """
    if chunk.translate(None, b"." + _PLAIN):
        return None
    letters = np.frombuffer(chunk, dtype=np.uint8)
    spaces = np.concatenate([[True], letters <= ord(" "), [True]])
    first = np.flatnonzero(~spaces[1:-1] & spaces[:-2])
    last = np.flatnonzero(~spaces[1:-1] & spaces[2:])
    points = np.flatnonzero(letters == ord("."))
    token = np.arange(len(points))
    if len(points) != len(last) or (points < first).any() or (points > last).any():
        token = np.searchsorted(last, points)
        if (token[1:] == token[:-1]).any():  # two points in one
            return None
    digits, places = last - first + 1, np.zeros(len(last), dtype=np.int64)
    digits[token] -= 1
    places[token] = last[token] - points
    if digits.max(initial=0) > _EXACT_DIGITS or digits.min(initial=1) < 1:
        return None
    return np.fromstring(chunk.translate(None, b"."), dtype=np.int64, sep=" ") / _POWERS[places]


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
