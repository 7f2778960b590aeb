"""The clock of limits."""

from __future__ import annotations

import time

import pytest

from dabp.kernels.compilation import compilation
from dabp.solvers.clock import Clock


def test_compiling_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seconds pass, but not those in which kernels were compiled."""
    moment = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: moment[0])
    clock = Clock()
    moment[0] += 10.0
    assert clock.now == 10.0
    compilation.begin()
    moment[0] += 7.0
    assert clock.now == 10.0
    compilation.end()
    moment[0] += 1.0
    assert clock.now == 11.0
