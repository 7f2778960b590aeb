"""A run watched from another process: the limits it may break, its end, and the lines of its result."""

from __future__ import annotations

import contextlib
import json
import os
import signal
from typing import IO, Any

import psutil

from dabp.lab.experiments.execution import failure
from dabp.lab.experiments.plan import Run

TICK = 0.05
"""Seconds between looks at a run's memory."""
FAMILY_TICKS = 5
"""The memory of a run's own child processes is added at every such tick (finding them is dear)."""
TAIL = 2000
"""Bytes of standard error that the reason of a crash may quote."""

Reason = tuple[str, str]
"""Why a run failed: a kind and a sentence."""


def excess(run: Run, pid: int, seconds: float, family: bool) -> Reason | None:
    """Which limit the run has broken, if any; `family` counts the memory of its child processes."""
    limits = run.limits
    if limits.wall_seconds is not None and seconds > limits.wall_seconds:
        return "timeout", f"ended after {limits.wall_seconds:g} s of wall clock"
    if limits.memory is None:
        return None
    try:
        process = psutil.Process(pid)
        members = [process, *(process.children(recursive=True) if family else ())]
        used = sum(member.memory_info().rss for member in members)
    except psutil.Error:  # it has just ended
        return None
    return ("memory", f"used more than {limits.memory / 1e6:.0f} MB") if used > limits.memory else None


def end(pid: int) -> None:
    """Kill a process and whatever it started; it is still to be waited for."""
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        for each in [*process.children(recursive=True), process]:
            with contextlib.suppress(psutil.Error):
                each.kill()


def result_lines(
    run: Run, reason: Reason | None, code: int, measured: dict[str, Any], output: IO[bytes], errors: IO[bytes]
) -> bytes:
    """The lines of a run's result, with what was measured from outside put into the summary.

    Parameters
    ----------
    reason
        The limit that the run has broken.
    code
        How its process ended, as `subprocess` counts: negative for a signal.
    output, errors
        The run's lines, and its standard error.
    """
    if reason is None and code == 0:
        output.seek(0)
        first, _, rest = output.read().decode().lstrip().partition("\n")
        return "\n".join([json.dumps({**measured, **json.loads(first)}), *([rest] if rest else [])]).encode()
    if reason is None:
        reason = ("crash", ": ".join([_ended(code), *last_line(errors)]))
    return json.dumps({**failure(run, *reason), **measured}).encode()


def last_line(errors: IO[bytes]) -> list[str]:
    """The last line of standard error; nothing if there is none."""
    errors.seek(max(0, errors.seek(0, os.SEEK_END) - TAIL))
    return errors.read().decode(errors="replace").strip().splitlines()[-1:]


def _ended(code: int) -> str:
    if code < 0:
        return f"killed by {signal.Signals(-code).name}"
    return f"exit code {code}" if code < 256 else f"exit code {code:#x}"  # Windows counts exceptions in hexadecimal
