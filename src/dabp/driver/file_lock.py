"""A lock between processes and threads: ``FILE.lock``, with `fcntl` on POSIX and `msvcrt` on Windows."""

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


class Lock:
    """The lock of a file, which has one owner at a time; the system frees the lock of a process that was killed.

    If the lock is taken, entering raises `BlockingIOError`, or waits if `wait` is set. A file system without locks
    gives the lock to everyone.
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
                time.sleep(0.02)
        return self

    def _take(self) -> int | None:
        """The descriptor of the locked file, None if the file was removed meanwhile; raises `BlockingIOError`."""
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
        if sys.platform == "win32":  # an open file cannot be removed
            os.close(self._descriptor)
        with contextlib.suppress(OSError):
            self._path.unlink()
        if sys.platform != "win32":  # closed last: a waiting process sees that the file is gone
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
