"""Work is done in the way that is faster, and the other is not forgotten."""

from __future__ import annotations

import pytest

from dabp.solvers import trials
from dabp.solvers.trials import Trials


class Clock:
    """Time that passes only when somebody says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch):
        self.now = 0.0
        monkeypatch.setattr(trials, "working_seconds", lambda: self.now)

    def turns(self, some: Trials, count: int, together: float, alone: float) -> list[bool]:
        """How work that takes so long in the two ways is done."""
        ways = []
        for _ in range(count):
            with some.turn() as way:
                self.now += together if way else alone
            ways.append(way)
        return ways


def test_the_faster_way_is_taken_and_the_other_tried_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both ways round, after a few turns one turn in `64` at most is a trial."""
    for faster in (True, False):
        some, clock = Trials(), Clock(monkeypatch)
        times = (1.0, 2.0) if faster else (2.0, 1.0)
        clock.turns(some, 4 * 64, *times)
        ways = clock.turns(some, 10 * 64, *times)
        assert 5 <= sum(way != faster for way in ways) <= 10


def test_one_slow_turn_is_soon_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads that were held up once share work again after a few turns; held up for long they soon do not."""
    some, clock = Trials(), Clock(monkeypatch)
    clock.turns(some, 100, 1.0, 2.0)
    clock.turns(some, 1, 9.0, 2.0)
    assert sum(clock.turns(some, 20, 1.0, 2.0)) >= 14
    assert sum(clock.turns(some, 20, 9.0, 2.0)) <= 5
