"""A lock that one process at a time holds: ``FILE.lock``, with `fcntl` on POSIX and `msvcrt` on Windows."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
import time
from pathlib import Path

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

WAIT = 0.02
"""Seconds between two attempts to take a lock that another holds."""


class Lock:
    """``FILE.lock`` held by one owner at a time. The system frees the lock of a process that was killed.

    A file system without locks gives the lock to everyone.

    Parameters
    ----------
    path
        The file that the lock is for.
    wait
        Wait until the lock is free, instead of raising `BlockingIOError`.

    Raises
    ------
    BlockingIOError
        Another holds it.
    """

    def __init__(self, path: Path, *, wait: bool = False):
        real = Path(os.path.realpath(path))
        self._path = real.with_name(real.name + ".lock")
        self._wait = wait
        self._descriptor: int | None = None

    def __enter__(self) -> Lock:
        while self._descriptor is None:
            try:
                self._descriptor = self._take()
            except BlockingIOError:
                if not self._wait:
                    raise
                time.sleep(WAIT)
        return self

    def _take(self) -> int | None:
        """The locked file, None if its owner has just removed it; raises `BlockingIOError`."""
        descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR, 0o644)
        try:
            _lock(descriptor)
            if sys.platform == "win32" or os.path.samestat(os.fstat(descriptor), os.stat(self._path)):
                return descriptor  # Windows removes no file that is open
        except FileNotFoundError:
            pass
        except BlockingIOError:
            os.close(descriptor)
            raise
        except OSError:  # a file system without locks
            return descriptor
        os.close(descriptor)
        return None

    def __exit__(self, *_: object) -> None:
        if self._descriptor is None:
            return
        if sys.platform == "win32":  # an open file cannot be removed: whoever locks it next keeps it
            os.close(self._descriptor)
            _remove(self._path)
        else:  # whoever waits for the lock sees that the file is gone
            _remove(self._path)
            os.close(self._descriptor)
        self._descriptor = None


def _lock(descriptor: int) -> None:
    """Lock an open file or raise `BlockingIOError`; another `OSError` where the file system has no locks."""
    if sys.platform == "win32":
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError as error:
            raise BlockingIOError(errno.EAGAIN, "another process holds the lock") from error
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _remove(path: Path) -> None:
    with contextlib.suppress(OSError):
        path.unlink()
