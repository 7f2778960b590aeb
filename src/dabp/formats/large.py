"""Large files are read piece by piece, where a format can, and are never in memory as a whole."""

from __future__ import annotations

import os
from collections.abc import Iterator

from dabp.errors import FormatError

LARGE = 2**25
"""Bytes from which on a plain file is not read at once, if its format can do without."""
PIECE = 2**20
"""Bytes that are read at a time."""


class LargeFile:
    """A file whose bytes are read by slices."""

    def __init__(self, path: str | os.PathLike[str], name: str):
        self._name = name
        self._stream = open(path, "rb", buffering=0)  # noqa: SIM115 - closed by `close`
        self._size = os.fstat(self._stream.fileno()).st_size

    def __len__(self) -> int:
        return self._size

    def __getitem__(self, where: slice) -> bytes:
        start, stop, _ = where.indices(self._size)
        self._stream.seek(start)
        parts, left = [], max(0, stop - start)
        while left > 0:
            part = self._stream.read(left)  # may be less than wanted
            if not part:
                raise FormatError("it became shorter while it was read", source=self._name)
            parts.append(part)
            left -= len(part)
        return b"".join(parts)

    def close(self) -> None:
        """Close the file, after which nothing can be read."""
        self._stream.close()


def pieces(data: bytes | LargeFile, separators: bytes = b"") -> Iterator[bytes]:
    """The data in pieces that end where lines do or, in very long ones, after white space or a separator."""
    start = 0
    while start < len(data):
        size = PIECE
        while True:
            piece = data[start : start + size]
            end = len(piece) if start + size >= len(data) else _cut(piece, separators)
            if end:
                break
            size *= 2
        yield piece[:end]
        start += end


def _cut(piece: bytes, separators: bytes) -> int:
    """Where a piece that is not the last may end; 0 if nowhere."""
    newline = piece.rfind(b"\n") + 1
    return newline or max(piece.rfind(bytes([letter])) for letter in b" \t\n\r\v\f" + separators) + 1
