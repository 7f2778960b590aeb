"""The clock that limits are held by."""

from __future__ import annotations

import time


class Clock:
    """Seconds of wall clock since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    @property
    def now(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start
