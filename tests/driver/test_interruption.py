"""Signals end a solve, not the program."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading

import pytest

from dabp.driver.interruption import ENDING, Interruption
from dabp.driver.solve import solve
from dabp.problem import Problem
from dabp.solvers.status import Status
from tests.sampling import Sampling, SamplingSearch


@pytest.mark.parametrize("number", [signal.SIGINT, *ENDING])
def test_a_signal_returns_the_incumbent(problem: Problem, number: signal.Signals) -> None:
    """The first signal ends the solve after the block it came in, with the best so far; handlers are put back."""
    before = signal.getsignal(number)

    def in_the_third_block(progress: object) -> None:
        blocks.append(progress)
        if len(blocks) == 3:
            signal.raise_signal(number)

    blocks: list[object] = []
    result = solve(problem, Sampling(), callbacks=[in_the_third_block], time_limit=60)
    assert result.status is Status.INTERRUPTED
    assert result.iterations == 30
    assert result.cost == solve(problem, Sampling(), max_iterations=30).cost
    assert signal.getsignal(number) is before


def test_threads_leave_signals_alone(problem: Problem) -> None:
    """Python allows handlers in the main thread only; a thread's solve has the same answer and changes none."""
    seen: list[object] = []

    def look() -> None:
        with Interruption() as interruption:
            seen.append((signal.getsignal(signal.SIGINT), interruption.requested))
        seen.append(solve(problem, Sampling(), max_iterations=50).cost)

    worker = threading.Thread(target=look)
    worker.start()
    worker.join()
    assert seen == [(signal.getsignal(signal.SIGINT), False), solve(problem, Sampling(), max_iterations=50).cost]


def test_a_second_interrupt_raises(problem: Problem) -> None:
    """As in any Python program: a notebook's kernel survives it, and handlers are put back."""
    before = signal.getsignal(signal.SIGINT)

    def twice(progress: object) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    closed = SamplingSearch.closed
    with pytest.raises(KeyboardInterrupt):
        solve(problem, Sampling(), callbacks=[twice], time_limit=60)
    assert signal.getsignal(signal.SIGINT) is before
    assert SamplingSearch.closed == closed + 1


def test_a_second_termination_ends_the_program() -> None:
    """Whoever sends SIGTERM twice means it."""
    script = (
        "import signal\nfrom dabp.driver.interruption import Interruption\n"
        "with Interruption():\n    signal.raise_signal(signal.SIGTERM)\n    print('first', flush=True)\n"
        "    signal.raise_signal(signal.SIGTERM)\n    print('second', flush=True)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (-signal.SIGTERM, "first\n", "")


def test_what_was_asked_before_a_solve_began_holds_for_it(problem: Problem) -> None:
    """A program that waits for signals itself, as the command line does, loses none on the way into a solve."""
    with Interruption():
        signal.raise_signal(signal.SIGINT)
        result = solve(problem, Sampling(), time_limit=60)
    assert (result.status, result.iterations, result.feasible) == (Status.INTERRUPTED, 0, True)
