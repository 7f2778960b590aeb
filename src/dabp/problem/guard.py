"""One deadline, memory limit and interruption for a whole solve; every stage of it looks at them."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from dabp.compiling import working_seconds

TIME = "time limit"
"""The reason to stop after the deadline."""

MEMORY = "memory limit"
"""The reason to stop when the process has more memory than it may."""

INTERRUPTED = "interrupted"
"""The reason to stop after a signal or a call of ``interrupt``."""

_last_memory = (-math.inf, 0)


def resident_memory() -> int:
    """Resident memory of this process in bytes, read at most ten times a second."""
    global _last_memory
    now = time.perf_counter()
    if now - _last_memory[0] > 0.1:
        import psutil

        _last_memory = (now, int(psutil.Process().memory_info().rss))
    return _last_memory[1]


class Guard:
    """How long a stage of a solve may still take, and whether to stop now.

    Made by the driver in the first line of a solve and handed to presolve, elimination orders, layouts and searches,
    so that no stage outlasts the limit, the memory or a signal. Without arguments it never stops anything.

    Parameters
    ----------
    time_limit
        Seconds of wall clock from now; None for no limit.
    memory_limit
        Largest resident memory of the process in bytes; None for no limit.
    interrupted
        Returns whether to stop.
    """

    def __init__(
        self,
        time_limit: float | None = None,
        memory_limit: int | None = None,
        interrupted: Callable[[], bool] | None = None,
    ):
        self._deadline = math.inf if time_limit is None else working_seconds() + time_limit
        self._memory_limit, self._interrupted = memory_limit, interrupted

    @property
    def seconds_left(self) -> float:
        """Until the deadline: inf without one, 0 when it has passed."""
        return max(0.0, self._deadline - working_seconds())

    @property
    def over(self) -> bool:
        """Whether to stop now."""
        return self.reason is not None

    @property
    def reason(self) -> str | None:
        """Why to stop now, in words; None to go on."""
        if self._interrupted is not None and self._interrupted():
            return INTERRUPTED
        if working_seconds() >= self._deadline:
            return TIME
        if self._memory_limit is not None and resident_memory() > self._memory_limit:
            return MEMORY
        return None

    def within(self, seconds: float) -> Guard:
        """The same guard with a deadline at most `seconds` from now: the budget of one stage."""
        return Guard(min(seconds, self.seconds_left), self._memory_limit, self._interrupted)
