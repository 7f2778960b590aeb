"""The clock that limits are held by."""

from __future__ import annotations

import time

from dabp.kernels.compilation import compilation


class Clock:
    """Seconds since the call, without the time the kernels took to compile."""

    def __init__(self) -> None:
        self._start = time.perf_counter()
        self._compiled = compilation.seconds

    @property
    def now(self) -> float:
        """Seconds so far."""
        return time.perf_counter() - self._start - (compilation.seconds - self._compiled)
