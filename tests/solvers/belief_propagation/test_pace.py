"""Lengths of runs: within what is left, the last one to the end of the time, whatever iterations take."""

import time

import numpy as np
import pytest

from dabp.compiling import compiling
from dabp.graph import FactorGraph
from dabp.solvers.base import Budget
from dabp.solvers.belief_propagation.pace import FIRST_PART, IN_TIME, SHORTEST, Pace
from dabp.solvers.belief_propagation.schedule import Ramp, Schedule
from tests.problems import random_problem

GRAPH = FactorGraph.from_problem(random_problem(3, maximize=False), dtype=np.float32)


@pytest.fixture
def clock(monkeypatch):
    """A clock that stands until it is set."""
    now = [100.0]
    monkeypatch.setattr(time, "perf_counter", lambda: now[0])
    monkeypatch.setattr(compiling, "_finished_seconds", 0.0)  # what this process has compiled
    return now


def test_without_a_limit_runs_are_as_long_as_wanted():
    """And nothing is left to fit in."""
    pace = Pace(Budget(), GRAPH, 100.0)
    assert pace.left(1000) is None
    assert pace.fitting(345.6, None, first=False) == 345
    assert not pace.last


def test_iterations_are_counted():
    """The first run is short, one that is nearly the last takes all, none is shorter than sensible."""
    pace = Pace(Budget(max_iterations=10_000), GRAPH, 100.0)
    assert pace.left(4000) == 6000
    assert pace.fitting(2000, 10_000, first=True) == int(FIRST_PART * 10_000)
    assert pace.fitting(2000, 6000, first=False) == 2000
    assert not pace.last
    assert pace.fitting(2000, 3000, first=False) == 3000
    assert pace.last
    assert pace.fitting(2000, 3, first=False) == SHORTEST


def test_the_last_run_ends_in_time(clock):
    """Iterations that take twice as long as before press what is left of the run, quicker ones stretch it."""
    pace = Pace(Budget(time_limit=10.0), GRAPH, 100.0)
    clock[0] += 1.0
    pace.took(10, 0.5)
    pace.took(990, 0.99)
    left = pace.left(1000)
    assert left == pytest.approx(IN_TIME * 9000)
    length = pace.fitting(8000, left, first=False)
    schedule = Schedule(length, Ramp(1.0, 2.0), Ramp(0.0, 0.5), 0.2)
    assert pace.kept(schedule, 0, 1000, pace.left(1000)) is schedule
    clock[0] += 4.0
    pace.took(2000, 4.0)
    pressed = pace.kept(schedule, 2000, 3000, pace.left(3000))
    assert pressed.iterations == pytest.approx(2000 + IN_TIME * 5.0 * 3000 / 5.0, rel=0.02)
    assert pressed.progress(2000) == pytest.approx(schedule.progress(2000))
    assert pressed.progress(pressed.iterations) == 1.0
    clock[0] += 1.0
    pace.took(4000, 1.0)
    assert pace.kept(pressed, 6000, 7000, pace.left(7000)).iterations > 6000 + 4000


def test_runs_that_are_not_the_last_are_left_alone(clock):
    """Whatever the clock says."""
    pace = Pace(Budget(time_limit=10.0), GRAPH, 100.0)
    pace.took(1000, 0.5)
    pace.fitting(500, pace.left(1000), first=False)
    schedule = Schedule(500, Ramp(1.0, 2.0), Ramp(0.0, 0.5), 0.2)
    clock[0] += 5.0
    assert pace.kept(schedule, 100, 1100, pace.left(1100)) is schedule


def test_a_first_run_of_slow_iterations_is_pressed(clock):
    """Where the nominal speed is far from the clock's (factors of many variables) it still ends early."""
    pace = Pace(Budget(time_limit=10.0), GRAPH, 100.0)
    length = pace.fitting(5000, pace.left(0), first=True)
    schedule = Schedule(length, Ramp(1.0, 2.0), Ramp(0.0, 0.5), 0.2)
    assert length == 5000
    pace.took(1, 3.0)
    assert pace.kept(schedule, 1, 1, pace.left(1)) is schedule
    clock[0] += 0.1
    pace.took(10, 0.1)
    pressed = pace.kept(schedule, 10, 10, pace.left(10))
    assert pressed.iterations == pytest.approx(FIRST_PART * IN_TIME * 1000, rel=0.05)
    assert pace.kept(pressed, 10, 10, pace.left(10)) is pressed
    clock[0] += 0.4
    pace.took(4000, 0.4)
    assert pace.kept(schedule, 4010, 4010, pace.left(4010)) is schedule
