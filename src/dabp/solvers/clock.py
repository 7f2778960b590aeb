"""The clock that limits are held by."""

from __future__ import annotations

from dabp.compiling import working_seconds


class Clock:
    """Seconds of wall clock since it was made."""

    def __init__(self) -> None:
        self._start = working_seconds()

    @property
    def now(self) -> float:
        """Seconds so far."""
        return working_seconds() - self._start
