"""The clock of limits stands still while kernels compile."""

from __future__ import annotations

import time

import numpy as np
import pytest

import dabp
from dabp.compiling import Compiling, compiling, working_seconds
from dabp.driver.solve import solve
from dabp.solvers.base import Search, Solver, Step


def test_nested_and_parallel_compilations_count_once() -> None:
    """A kernel that compiles what it calls is one compilation; the seconds grow while it lasts."""
    watch, notices = Compiling(), []
    watch.notice = lambda: notices.append(1)
    watch.begin()
    watch.begin()
    time.sleep(0.05)
    during = watch.seconds
    watch.end()
    watch.end()
    after = watch.seconds
    time.sleep(0.05)
    assert 0.05 <= during <= after
    assert watch.seconds == after
    assert len(notices) == 1


def test_the_clock_stands_still_while_kernels_compile() -> None:
    """And goes on afterwards."""
    before = working_seconds()
    compiling.begin()
    time.sleep(0.1)
    compiling.end()
    assert working_seconds() - before < 0.05
    time.sleep(0.05)
    assert working_seconds() - before >= 0.05


def test_a_time_limit_starts_after_compiling() -> None:
    """A solve of 0.2 s whose first step compiles for a second still searches for 0.2 s, and says what took longer."""

    class Late(Search):
        blocks = 0

        def step(self) -> Step:
            if self.blocks == 0:
                compiling.begin()
                time.sleep(1.0)
                compiling.end()
            Late.blocks += 1
            time.sleep(0.02)
            return Step(np.array([1.0]), np.zeros(2, dtype=np.int64), 0.0)

    class Compiles(Solver):
        def start(self, problem, *, seed, budget, initial=None):  # type: ignore[no-untyped-def]
            return Late()

    problem = dabp.Problem.from_tables([2, 2], [((0, 1), np.array([[0.0, 1.0], [1.0, 2.0]]))])
    result = solve(problem, Compiles(), time_limit=0.2)
    assert Late.blocks >= 4
    assert result.runtime == pytest.approx(0.2, abs=0.15)
    assert any("compiling kernels took 1 s" in note for note in result.notes)
