"""Where readers get their bytes: files, streams and standard input, decompressed, never more than a cap.

Everything a reader knows about its file is a `Source`: the bytes, a name for messages and the limits.
"""

from __future__ import annotations

import bz2
import gzip
import inspect
import io
import json
import lzma
import os
import stat
import sys
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, BinaryIO

import numpy as np

from dabp.errors import FormatError, FormatWarning, ProblemError
from dabp.formats import large
from dabp.formats.large import LargeFile, pieces
from dabp.formats.meter import FREE_BYTES, MAX_BYTES, MAX_PLAIN_BYTES, MOST_TIMES, Line, Meter, too_long
from dabp.problem import Problem
from dabp.problem.columns import with_shared_tables

Place = str | os.PathLike[str] | IO[str] | IO[bytes]
"""A path, ``-`` for standard input or output, or an open stream of text or bytes."""

COMPRESSED = {".gz": b"\x1f\x8b", ".bz2": b"BZh", ".xz": b"\xfd7zXZ\x00"}
"""Suffix → the bytes such a file starts with."""


def printable(text: str) -> str:
    """Text that is safe to show: control characters, which can steer terminals, become question marks."""
    return "".join(letter if letter.isprintable() else "?" for letter in text[:1000])


@dataclass
class Source:
    """One file in memory: its bytes, its name for messages, and the meter of what it declares.

    `max_cells` is the limit on table cells that was given, None for what the file's size allows. `file` replaces
    `data` for a large file that is read piece by piece. `progress` is called with the bytes read and their total.
    """

    name: str
    data: bytes
    max_cells: int | None = None
    file: LargeFile | None = None
    progress: Callable[[int, int], object] | None = None
    meter: Meter = field(init=False)

    def __post_init__(self) -> None:
        self.meter = Meter(self.name, len(self.content), self.max_cells)

    @property
    def content(self) -> bytes | LargeFile:
        """The bytes, to be read by slices."""
        return self.data if self.file is None else self.file

    def advance(self, done: int) -> None:
        """Report how many bytes are read."""
        if self.progress is not None:
            self.progress(done, max(done, len(self.content)))

    @property
    def stem(self) -> str:
        """The file's name without folders and suffixes: the name of a problem that has no name of its own."""
        return Path(self.name).name.split(".")[0] or "problem"

    def release(self) -> None:
        """Free the bytes, once they are parsed."""
        self.data = b""
        if self.file is not None:
            self.file.close()

    def error(self, message: str, line: Line = None) -> FormatError:
        """An error with the file's name and a line."""
        return FormatError(message, source=self.name, line=line() if callable(line) else line)

    def warn(self, message: str, line: Line = None) -> None:
        """Warn with the file's name and a line, at the caller's own line outside of this package."""
        level, frame = 1, inspect.currentframe()
        while frame is not None and str(frame.f_globals.get("__name__")).split(".")[0] == "dabp":
            level, frame = level + 1, frame.f_back
        warnings.warn(str(self.error(message, line)), FormatWarning, stacklevel=level)

    def empty(self) -> FormatError:
        """The error for a file without content."""
        return self.error("the file is empty", 1)

    def problem(self, *columns: Any, name: str | None = None, **facts: Any) -> Problem:
        """A `Problem` of these columns, which it takes over; what is wrong with them is wrong with the file."""
        for column in columns:
            if isinstance(column, np.ndarray):
                column.flags.writeable = False
        try:
            return with_shared_tables(Problem(*columns, name=printable(self.stem if name is None else name), **facts))
        except ProblemError as error:
            raise self.error(str(error)) from None

    def text(self) -> str:
        """The bytes as UTF-8 text (a byte order mark is skipped)."""
        try:
            text = self.data.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            line = self.data.count(b"\n", 0, error.start) + 1
            byte = self.data[error.start]
            raise self.error(f"this is not UTF-8 text (byte 0x{byte:02x})", line) from None
        if "\0" in text:
            raise self.error("this is not text (it has NUL bytes)", text.count("\n", 0, text.index("\0")) + 1)
        return text

    def json(self, text: str) -> Any:
        """The content of a JSON text."""
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", None)
            raise self.error(f"this is not JSON ({getattr(error, 'msg', 'nested too deeply')})", line) from None


def open_source(
    place: Place,
    *,
    max_bytes: int | None = None,
    max_cells: int | None = None,
    empty: bool = False,
    piecewise: bool = False,
    progress: Callable[[int, int], object] | None = None,
) -> Source:
    """Read a file or stream wholly, decompressing it if it starts like a compressed one; `empty` allows it to be.

    With `piecewise` a large plain file is only opened.
    """
    name = place_name(place)
    if piecewise and (file := _large_file(place, name, max_bytes)) is not None:
        source = Source(name, b"", max_cells, file, progress)
        if not empty and not any(piece.strip() for piece in pieces(file)):
            source.release()
            raise source.empty()
        return source
    data = _all_bytes(place, name, MAX_BYTES if max_bytes is None else max_bytes)
    kind = next((kind for kind, start in COMPRESSED.items() if data.startswith(start)), "")
    suffix = split_suffix(os.fspath(place))[1] if isinstance(place, str | os.PathLike) else ""
    if suffix and kind != suffix:
        raise FormatError(f"its name ends in {suffix}, but it is not compressed that way", source=name)
    if kind:
        data = _unpacked(data, name, kind, max_bytes)
    source = Source(name, data, max_cells)
    if not empty and not data.strip():
        raise source.empty()
    return source


def _large_file(place: Place, name: str, max_bytes: int | None) -> LargeFile | None:
    """A large plain file, opened; None for any other, which is read at once."""
    if not isinstance(place, str | os.PathLike) or os.fspath(place) == "-" or split_suffix(os.fspath(place))[1]:
        return None
    try:
        if not stat.S_ISREG((status := os.stat(place)).st_mode) or status.st_size < large.LARGE:
            return None
        file = LargeFile(place, name)
    except (OSError, ValueError):
        return None  # reading it at once raises the error
    if any(file[:8].startswith(start) for start in COMPRESSED.values()):
        file.close()
        return None
    most = MAX_PLAIN_BYTES if max_bytes is None else max_bytes
    if len(file) > most:
        file.close()
        raise too_long(name, most)
    return file


def place_name(place: Place) -> str:
    """The name of a place in messages."""
    if isinstance(place, str | os.PathLike):
        return "standard input" if os.fspath(place) == "-" else os.fspath(place)
    return str(getattr(place, "name", "stream"))


def split_suffix(path: str) -> tuple[str, str]:
    """The format's suffix and the compression's, in small letters: ``a.wcsp.xz`` → ``.wcsp``, ``.xz``."""
    inner, outer = Path(path), ""
    if inner.suffix.lower() in COMPRESSED:
        outer = inner.suffix.lower()
        inner = inner.with_suffix("")
    return inner.suffix.lower(), outer


def _all_bytes(place: Place, name: str, max_bytes: int) -> bytes:
    try:
        if not isinstance(place, str | os.PathLike):
            content = place.read(max_bytes + 1)
            data = content.encode() if isinstance(content, str) else content
        elif os.fspath(place) == "-":
            if sys.stdin is None:
                raise FormatError("it is closed", source=name)
            data = sys.stdin.buffer.read(max_bytes + 1)
        else:
            with open(place, "rb") as stream:
                data = stream.read(max_bytes + 1)
    except FileNotFoundError:
        raise FormatError("there is no such file", source=name) from None
    except (IsADirectoryError, PermissionError):  # Windows permits no one to open a directory
        reason = "this is a folder, not a file" if os.path.isdir(name) else "reading it is not permitted"
        raise FormatError(reason, source=name) from None
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise FormatError(f"it cannot be read ({error})", source=name) from None
    if len(data) > max_bytes:
        raise too_long(name, max_bytes)
    return data


def _unpacked(data: bytes, name: str, kind: str, max_bytes: int | None) -> bytes:
    """Decompressed data: by default not much more than its own size makes plausible."""
    most = MAX_BYTES if max_bytes is None else max_bytes
    plausible = max(FREE_BYTES, MOST_TIMES * len(data))
    result = bytearray()
    try:
        for piece in _pieces(io.BytesIO(data), kind):
            result += piece
            if len(result) > most:
                raise too_long(name, most, " when decompressed")
            if max_bytes is None and len(result) > plausible:
                raise too_long(name, FREE_BYTES, f" and {MOST_TIMES} times its own size when decompressed")
    except (EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise FormatError(f"the {kind} data is damaged ({error})", source=name) from None
    return bytes(result)


def _pieces(stream: BinaryIO, kind: str) -> Iterator[bytes]:
    if kind == ".gz":
        reader = gzip.GzipFile(fileobj=stream)
        while piece := reader.read(large.PIECE):
            yield piece
        return
    pending = b""
    while pending or (pending := stream.read(large.PIECE)):
        machine: bz2.BZ2Decompressor | lzma.LZMADecompressor = (
            bz2.BZ2Decompressor()
            if kind == ".bz2"
            else lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=2**28)  # a header may demand a dictionary of 4 GB
        )
        while not machine.eof:
            if machine.needs_input and not pending and not (pending := stream.read(large.PIECE)):
                raise EOFError("it ends early")
            piece = machine.decompress(pending, large.PIECE)
            pending = b""
            if piece:
                yield piece
        pending = machine.unused_data.lstrip(b"\0")
