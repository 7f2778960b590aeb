"""The time that compiling kernels takes, which no time limit counts.

Compiled kernels come with the package. Kernels that it does not have (another Python, Numba or processor, changed
sources) are compiled at the first call that needs them. This module does not import Numba.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class Compiling:
    """Seconds that this process has spent compiling kernels; loading compiled ones does not count."""

    def __init__(self) -> None:
        self.notice: Callable[[], None] | None = None
        """Called when a compilation begins."""
        self._finished_seconds = 0.0
        self._active = 0
        self._started = 0.0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """A kernel begins to compile, in any thread; compilations may be nested."""
        with self._lock:
            self._active += 1
            if self._active == 1:
                self._started = time.perf_counter()
                if self.notice is not None:
                    self.notice()

    def end(self) -> None:
        """A compilation has ended."""
        with self._lock:
            self._active -= 1
            if self._active == 0:
                self._finished_seconds += time.perf_counter() - self._started

    @property
    def seconds(self) -> float:
        """Seconds of all compilations so far, the present one included."""
        with self._lock:
            return self._finished_seconds + (time.perf_counter() - self._started if self._active else 0.0)


compiling = Compiling()


def working_seconds() -> float:
    """A clock that stands still while kernels compile: the clock of time limits, shares of time and traces."""
    return time.perf_counter() - compiling.seconds
