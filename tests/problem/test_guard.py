"""The guard tells when to stop, and why."""

from __future__ import annotations

import math

from dabp.problem.guard import Guard, resident_memory


def test_without_limits_it_never_stops() -> None:
    """No argument, no reason."""
    guard = Guard()
    assert guard.seconds_left == math.inf
    assert guard.reason is None
    assert not guard.over


def test_reasons() -> None:
    """Each limit stops by itself and says so; an interruption is told first."""
    assert Guard(0.0).reason == "time limit"
    assert Guard(0.0).seconds_left == 0.0
    assert Guard(memory_limit=resident_memory() // 2).reason == "memory limit"
    assert Guard(memory_limit=2 * resident_memory()).reason is None
    assert Guard(0.0, interrupted=lambda: True).reason == "interrupted"


def test_a_stage_has_no_more_than_the_whole() -> None:
    """A part of the time ends at the whole's deadline at the latest, and sees its other limits."""
    assert Guard(5.0).within(100.0).seconds_left <= 5.0
    assert Guard().within(3.0).seconds_left <= 3.0
    assert Guard(interrupted=lambda: True).within(3.0).reason == "interrupted"
