"""What a process has used so far, with the child processes that it has waited for."""

from __future__ import annotations

import os
import sys
import time

if sys.platform == "win32":
    import psutil
else:
    import resource


def peak_memory() -> int:
    """The largest memory in bytes of this process, or of one of its children, so far."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    else:
        peak = max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
        return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, Linux KiB


def usage() -> dict[str, float]:
    """The CPU seconds and the peak memory of this process, as a run's summary names them."""
    times = os.times()
    seconds = time.process_time() + times.children_user + times.children_system
    return {"cpu": round(seconds, 4), "peak_memory": peak_memory()}
