"""Files written whole or not at all: beside, to the disk, then renamed."""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

PATIENCE = 2.0 if sys.platform == "win32" else 0.0
"""Seconds in which a file is renamed. Windows refuses while another program, often a virus scanner, reads it."""


@contextlib.contextmanager
def replacing(path: str | Path, mode: str = "w", *, previous: Path | None = None) -> Iterator[IO[Any]]:
    """A stream whose contents become the file `path` when the block ends well; otherwise the old file stays.

    Written beside in the same folder, flushed to the disk and renamed, so that whoever reads or pulls the plug finds
    the old file or the new one. What is no plain file (a pipe, ``/dev/stdout``) and a file in a folder that cannot be
    written to are written as they are.

    Parameters
    ----------
    path
        The file; where it leads, if it is a link.
    mode
        ``"w"`` for text in UTF-8 with the same line ends on every system, ``"wb"`` for bytes.
    previous
        Where the old file goes; by default it is gone.
    """
    path = Path(os.path.realpath(path))
    options: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8", "newline": "\n"}
    if not _replaceable(path):
        with open(path, mode, **options) as stream:
            yield stream
        return
    temporary = temporary_of(path)
    try:
        with open(temporary, mode, **options) as stream:
            if path.exists():
                os.chmod(temporary, stat.S_IMODE(path.stat().st_mode))
            yield stream
            stream.flush()
            os.fsync(stream.fileno())
        if previous is not None:
            with contextlib.suppress(FileNotFoundError):
                _rename(path, previous)
        _rename(temporary, path)
        _sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):  # renamed, or its folder is gone
            temporary.unlink()


def _rename(source: Path, target: Path) -> None:
    """Rename a file, over `target` if it is there; try again for `PATIENCE` seconds while it is in use."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            os.replace(source, target)
            return
        except PermissionError:
            if time.monotonic() >= deadline:
                raise
        time.sleep(0.02)


def temporary_of(path: Path) -> Path:
    """Where this process writes what will become `path`."""
    return path.with_name(f"{path.name}.{os.getpid()}.tmp")


def _replaceable(path: Path) -> bool:
    if path.exists() and not path.is_file():
        return False
    return os.access(path.parent, os.W_OK | os.X_OK) or not os.access(path, os.W_OK)


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
