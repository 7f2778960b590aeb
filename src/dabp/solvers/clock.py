"""The clock of time limits; it stands still while kernels are compiled."""

from __future__ import annotations

from dabp.compiling import working_seconds


class Clock:
    """Seconds of wall clock since it was made."""

    def __init__(self) -> None:
        self._start = working_seconds()

    @property
    def now(self) -> float:
        """Seconds since the clock was made."""
        return working_seconds() - self._start
