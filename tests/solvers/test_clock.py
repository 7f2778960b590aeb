"""The clock of limits."""

from __future__ import annotations

import time

import pytest

from dabp.solvers.clock import Clock


def test_every_second_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wall clock since it was made, whatever the time went into."""
    moment = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: moment[0])
    clock = Clock()
    moment[0] += 10.0
    assert clock.now == 10.0
