"""What a process has used so far."""

from __future__ import annotations

import sys
import time

if sys.platform == "win32":
    import psutil
else:
    import resource


def peak_memory() -> int:
    """Bytes of memory that this process held at most."""
    if sys.platform == "win32":
        return int(psutil.Process().memory_info().peak_wset)
    else:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak if sys.platform == "darwin" else peak * 1024  # macOS counts bytes, Linux KiB


def usage() -> dict[str, float]:
    """The CPU seconds and the peak memory of this process, as a run's summary names them."""
    return {"cpu": round(time.process_time(), 4), "peak_memory": peak_memory()}
