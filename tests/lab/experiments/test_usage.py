"""What a process has used: compared with psutil's view of the same process."""

from __future__ import annotations

import numpy as np
import psutil

from dabp.lab.experiments.usage import peak_memory, usage


def test_the_peak_is_in_bytes() -> None:
    """As much as is held now or more, less than the machine has; it grows with what is touched."""
    before = peak_memory()
    touched = np.ones(max(0, before - psutil.Process().memory_info().rss) + 50_000_000, dtype=np.uint8)
    assert before + 10_000_000 < peak_memory() < psutil.virtual_memory().total
    assert peak_memory() >= touched.nbytes


def test_the_time_is_that_of_the_processor() -> None:
    """Seconds of all threads and of children that have ended, as psutil counts them."""
    assert abs(usage()["cpu"] - sum(psutil.Process().cpu_times()[:4])) < 0.5
