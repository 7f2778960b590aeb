"""A real Jupyter kernel that runs cells, as a notebook does, and is interrupted as with its stop button."""

from __future__ import annotations

import contextlib
import queue
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

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

    def begin(self, code: str, *, until: str = "") -> Outcome:
        """Start a cell; come back when it has printed `until`."""
        self._client.execute(code)
        outcome = Outcome()
        while until not in outcome.text:
            self._hear(outcome)
        return outcome

    def end(self, outcome: Outcome) -> Outcome:
        """Wait for the running cell."""
        while not outcome.status:
            self._hear(outcome)
        return outcome

    def run(self, code: str) -> Outcome:
        """A cell from its start to its end."""
        return self.end(self.begin(code))

    def interrupt(self) -> None:
        """The stop button."""
        self._manager.interrupt_kernel()

    @property
    def alive(self) -> bool:
        """Whether the kernel still runs."""
        return bool(self._manager.is_alive())

    def _hear(self, outcome: Outcome, patience: float = 120.0) -> None:
        deadline = time.monotonic() + patience
        while True:
            try:
                message = self._client.get_iopub_msg(timeout=1)
                break
            except queue.Empty:
                if not self.alive or time.monotonic() > deadline:
                    outcome.status = "dead" if not self.alive else "silent"
                    return
        kind, content = message["msg_type"], message["content"]
        if kind == "stream":
            outcome.text += content["text"]
        elif kind == "error":
            outcome.error = content["ename"]
        elif kind in ("display_data", "update_display_data"):
            outcome.shown.append(content["data"].get("text/plain", ""))
        elif kind == "status" and content["execution_state"] == "idle":
            outcome.status = "error" if outcome.error else "ok"


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
