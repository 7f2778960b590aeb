"""Files written whole or not at all: beside, to the disk, then renamed; and a lock for those that one process owns."""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

try:
    import fcntl
except ImportError:  # not on Windows, where two processes on one file are not told apart
    fcntl = None  # type: ignore[assignment]


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
        ``"w"`` for text in UTF-8, ``"wb"`` for bytes.
    previous
        Where the old file goes; by default it is gone.
    """
    path = Path(os.path.realpath(path))
    options: dict[str, Any] = {} if "b" in mode else {"encoding": "utf-8"}
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
                os.replace(path, previous)
        os.replace(temporary, path)
        _sync_folder(path.parent)
    finally:
        with contextlib.suppress(OSError):  # renamed, or its folder is gone
            temporary.unlink()


def temporary_of(path: Path) -> Path:
    """Where this process writes what will become `path`."""
    return path.with_name(f"{path.name}.{os.getpid()}.tmp")


def _replaceable(path: Path) -> bool:
    if path.exists() and not path.is_file():
        return False
    return os.access(path.parent, os.W_OK | os.X_OK) or not os.access(path, os.W_OK)


def _sync_folder(folder: Path) -> None:
    """The rename, too, is on the disk; not every system lets folders be opened."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class Lock:
    """``FILE.lock`` held by one solve at a time; what a killed one has left is nobody's.

    Raises
    ------
    BlockingIOError
        Another holds it.
    """

    def __init__(self, path: Path):
        real = Path(os.path.realpath(path))
        self._path = real.with_name(real.name + ".lock")
        self._descriptor: int | None = None

    def __enter__(self) -> Lock:
        while fcntl is not None and self._descriptor is None:
            descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o644)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                current = os.path.samestat(os.fstat(descriptor), os.stat(self._path))
            except FileNotFoundError:  # its owner has just removed it
                current = False
            except BlockingIOError:
                os.close(descriptor)
                raise
            except OSError:  # a file system without locks
                current = True
            if current:
                self._descriptor = descriptor
            else:
                os.close(descriptor)
        return self

    def __exit__(self, *_: object) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                self._path.unlink()
            os.close(self._descriptor)
            self._descriptor = None
