"""Comments of a file made into spaces, so that lines and places stay."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

_CHUNK = 2**20


def without_comments(data: bytes, *, mark: bytes = b"#", trailing: bool = False, slashes: bool = False) -> bytes:
    """The file with spaces for lines that start with ``#``, or another `mark`.

    `trailing` takes what follows a mark after white space for a comment, too, and `slashes` what follows ``//``.
    """
    return b"".join(map(Blanking(mark=mark, trailing=trailing, slashes=slashes), lines_of(data)))


class Blanking:
    """The same for a file that comes in pieces, which end where lines do or after white space in them."""

    def __init__(self, *, mark: bytes = b"#", trailing: bool = False, slashes: bool = False):
        self._mark, self._trailing, self._slashes = mark, trailing, slashes
        self._commenting = False  # whether the next piece begins inside a comment
        self._line_begins = True

    def __call__(self, piece: bytes) -> bytes:
        """The next piece, as long as it was."""
        start = piece.find(b"\n") if self._commenting else 0
        if start < 0:
            return b" " * len(piece)
        rest = piece[start:]
        blank = rest
        if self._mark in rest or (self._slashes and b"//" in rest):
            # In the midst of a line a mark is not the first of it.
            before = b"" if start or self._line_begins else b" " if self._trailing else b"0"
            blank = _blanked(before + rest, self._mark[0], self._trailing, self._slashes)[len(before) :]
        last = rest.rfind(b"\n") + 1
        self._commenting = blank[last:] != rest[last:]
        self._line_begins = (last > 0 or self._line_begins) and not rest[last:].strip()
        return b" " * start + blank


def lines_of(data: bytes) -> Iterator[bytes]:
    """Chunks of whole lines."""
    start = 0
    while start < len(data):
        end = data.find(b"\n", min(start + _CHUNK, len(data))) + 1
        end = end or len(data)
        yield data[start:end]
        start = end


def _blanked(chunk: bytes, mark: int, trailing: bool, slashes: bool) -> bytes:
    letters = np.frombuffer(chunk, dtype=np.uint8)
    starts = _marks(letters, mark, trailing)
    if slashes:
        both = (letters[:-1] == ord("/")) & (letters[1:] == ord("/"))
        starts = np.sort(np.concatenate([starts, np.flatnonzero(both)]))
    if not len(starts):
        return chunk
    newlines = np.append(np.flatnonzero(letters == ord("\n")), len(letters))
    ends = newlines[np.searchsorted(newlines, starts)]
    ends, first = np.unique(ends, return_index=True)
    steps = np.zeros(len(letters) + 1, dtype=np.int8)
    steps[starts[first]] = 1
    steps[ends] = -1
    result = letters.copy()
    result[np.cumsum(steps[:-1], dtype=np.int8) > 0] = ord(" ")
    return result.tobytes()


def _marks(letters: NDArray[np.uint8], mark: int, trailing: bool) -> NDArray[np.int64]:
    found: NDArray[np.int64] = np.flatnonzero(letters == mark)
    if trailing:
        before = letters[found - 1]  # that of the first letter is the chunk's last, and not used
        starting: NDArray[np.bool_] = (found == 0) | (before <= ord(" "))
        return found[starting]
    full = np.flatnonzero((letters != ord(" ")) & (letters != ord("\t")))
    place = np.searchsorted(full, found)
    leading: NDArray[np.bool_] = (place == 0) | (letters[full[place - 1]] == ord("\n"))
    return found[leading]
