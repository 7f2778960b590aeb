"""Signals end a solve, not the program."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from dabp.driver.interruption import Interruption
from dabp.driver.solve import solve
from dabp.generators import generate
from dabp.problem import Problem
from dabp.solvers.status import Status
from tests.sampling import Sampling


@pytest.fixture(scope="module")
def problem() -> Problem:
    return generate("random-cop", variables=8, domain=3, density=0.5, seed=0)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_returns_the_incumbent(problem: Problem, number: signal.Signals) -> None:
    """The first signal ends the solve after the block it came in, with the best so far; handlers are put back."""
    before = signal.getsignal(number)

    def in_the_third_block(progress: object) -> None:
        blocks.append(progress)
        if len(blocks) == 3:
            os.kill(os.getpid(), number)

    blocks: list[object] = []
    result = solve(problem, Sampling(), callbacks=[in_the_third_block], time_limit=60)
    assert result.status is Status.INTERRUPTED
    assert result.iterations == 30
    assert result.cost == solve(problem, Sampling(), max_iterations=30).cost
    assert signal.getsignal(number) is before


def test_works_outside_the_main_thread(problem: Problem) -> None:
    """In a thread signals are left alone and the answer is the same."""
    answers = []
    worker = threading.Thread(target=lambda: answers.append(solve(problem, Sampling(), max_iterations=50).cost))
    worker.start()
    worker.join()
    assert answers == [solve(problem, Sampling(), max_iterations=50).cost]


def test_threads_leave_signals_alone() -> None:
    """Python allows handlers in the main thread only, and a thread's solve must not take them from the program."""
    seen: list[object] = []

    def enter() -> None:
        with Interruption() as interruption:
            seen.append((signal.getsignal(signal.SIGINT), interruption.requested))

    worker = threading.Thread(target=enter)
    worker.start()
    worker.join()
    assert seen == [(signal.getsignal(signal.SIGINT), False)]
