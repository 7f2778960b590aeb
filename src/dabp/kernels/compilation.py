"""How long kernels took to compile, kept apart from Numba so that asking costs no import."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Compilation:
    """Seconds spent compiling (loading from the disk cache does not count), and a hook for a notice."""

    def __init__(self) -> None:
        self.notice: Callable[[], None] | None = None
        self._done = 0.0
        self._depth = 0
        self._start = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """A kernel starts to compile, in whatever thread."""
        with self._lock:
            self._depth += 1
            if self._depth == 1:
                self._start = time.perf_counter()
                if self.notice is not None:
                    self.notice()

    def end(self) -> None:
        """It is compiled."""
        with self._lock:
            self._depth -= 1
            if self._depth == 0:
                self._done += time.perf_counter() - self._start

    @property
    def seconds(self) -> float:
        """So far, with the compilation that is going on."""
        with self._lock:
            return self._done + (time.perf_counter() - self._start if self._depth else 0.0)


compilation = Compilation()
