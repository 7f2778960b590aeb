"""Solves in a real Jupyter kernel: interrupted, they answer; interrupted twice, they raise; the kernel lives on."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest

pytest.importorskip("ipykernel")

RUNNING = """
import dabp
problem = dabp.generate("random-cop", variables=60, domain=8, density=0.3, seed=5)
told = []
def tell(progress):
    if not told:
        told.append(print("running", flush=True))
result = None
result = dabp.solve(problem, {solver!r}, time_limit=100, seed=1, callbacks=[tell]{options})
"""
"""A cell that solves for a long time, and says so once it does."""
ANSWER = "print(result.status.value, result.cost == problem.cost(result.assignment))"


@dataclass
class Outcome:
    """What a cell left."""

    status: str = ""
    error: str = ""
    text: str = ""
    shown: list[str] = field(default_factory=list)
    """What was displayed, each time it changed."""


class Notebook:
    """One kernel and the cells it runs, one at a time."""

    def __init__(self, manager: Any, client: Any):
        self._manager, self._client = manager, client

    def run(self, code: str, *, interrupts: int = 0) -> Outcome:
        """A cell from its start to its end; the stop button is pressed when it has printed "running"."""
        outcome, left = Outcome(), [None] * interrupts

        def take(message: dict[str, Any]) -> None:
            content = message["content"]
            outcome.text += content.get("text", "")
            if message["msg_type"] in ("display_data", "update_display_data"):
                outcome.shown.append(content["data"].get("text/plain", ""))
            while left and "running" in outcome.text:
                left.pop()
                self._manager.interrupt_kernel()

        reply = self._client.execute_interactive(code, output_hook=take, timeout=120)["content"]
        outcome.status, outcome.error = reply["status"], reply.get("ename", "")
        return outcome


@contextlib.contextmanager
def notebook() -> Iterator[Notebook]:
    """A kernel for as long as the block lasts."""
    from jupyter_client.manager import KernelManager

    manager = KernelManager()
    manager.start_kernel(stderr=subprocess.DEVNULL)  # where it grumbles about the transport
    client = manager.client()
    client.start_channels()
    try:
        client.wait_for_ready(timeout=120)
        yield Notebook(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.context.destroy(linger=0)


@pytest.mark.parametrize("solver", ["auto", "dabp"])
def test_the_stop_button_gives_the_best_answer(solver: str) -> None:
    """The cell ends as any other, its result is there, and the next cell runs; twice in one kernel."""
    with notebook() as kernel:
        for _ in range(2):
            assert kernel.run(RUNNING.format(solver=solver, options=""), interrupts=1).status == "ok"
            assert kernel.run(ANSWER).text == "INTERRUPTED True\n"


def test_two_interrupts_do_not_end_the_kernel() -> None:
    """Impatience costs the answer at most: KeyboardInterrupt as from any cell, and the kernel is as before."""
    with notebook() as kernel:
        outcome = kernel.run(RUNNING.format(solver="auto", options=""), interrupts=2)
        assert (outcome.status, outcome.error) in (("ok", ""), ("error", "KeyboardInterrupt"))
        assert kernel.run("print(6 * 7)").text == "42\n"


def test_progress_is_shown_below_the_cell() -> None:
    """`display=True`: one line that changes, without anything to install."""
    with notebook() as kernel:
        code = RUNNING.format(solver="tabu", options=", display=True").replace(
            "seed=1", "seed=1, max_iterations=20_000"
        )
        outcome = kernel.run(code)
    assert outcome.status == "ok"
    assert any("searching  cost" in text and "s left" in text for text in outcome.shown)
    assert outcome.shown[-1].startswith("ended  cost")
