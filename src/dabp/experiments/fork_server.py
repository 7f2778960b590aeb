"""A process that has imported everything and forks a child for each run: a run costs milliseconds, not an import.

Started by `tethered`. It is single-threaded, and checks
that it is before it forks. It ends, and the child with it, when the other side of its pipe is gone: whatever happens to
the experiment, no run is left behind.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import select
import signal
import sys
import tempfile
import time
import traceback
from typing import Any, BinaryIO

import psutil

from dabp.experiments.execution import execute, failure
from dabp.experiments.messages import receive, send
from dabp.experiments.plan import Run
from dabp.experiments.preparation import Preparation, prepare
from dabp.experiments.tethered import die_with_parent

TICK = 0.05
"""Seconds between looks at a run's memory."""
FAMILY_TICKS = 5
"""The memory of a run's own child processes is added at every such tick (finding them is dear)."""
ADDRESS_SLACK = 1 << 30
"""Address space beyond the memory limit: reserved, never touched pages must not end a run."""
IDLE = 300.0
"""Seconds without a run after which the server ends by itself; the next run starts a new one."""
TAIL = 2000
"""Bytes of standard error that the reason of a crash may quote."""

Reason = tuple[str, str]
"""Why a run failed: a kind and a sentence."""


def serve(commands: int, replies: int) -> None:
    """Import and rehearse what is asked, say ready, then run one run after another until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides what an interrupt means
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    wake_read, wake_write = os.pipe()
    for end in (wake_read, wake_write):
        os.set_blocking(end, False)
    signal.set_wakeup_fd(wake_write)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    preparation = Preparation(**json.loads(receive(commands) or b"{}"))
    prepare(preparation.modules, preparation.rehearsals)
    gc.freeze()
    send(replies, json.dumps({"ready": True, "threads": psutil.Process().num_threads()}).encode())
    while _asked(commands) and (message := receive(commands)) is not None:
        run = Run.from_dict(json.loads(message))
        payload = _supervise(run, preparation.trust, commands, wake_read)
        if payload is None:
            return
        send(replies, payload)


def _asked(commands: int) -> bool:
    """Wait for a message or the end of the pipe; False when nobody has asked for long.

    On a cluster the pipe's other end is a Dask worker's, which outlives an experiment that was killed.
    """
    deadline = time.monotonic() + IDLE
    while (left := deadline - time.monotonic()) > 0:
        if select.select([commands], [], [], left)[0]:
            return True
    return False


def _supervise(run: Run, trust: list[str], commands: int, wake: int) -> bytes | None:
    """Fork the run and watch its time and memory; its lines, or None if the experiment is gone."""
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        started, parent = time.perf_counter(), os.getpid()
        child = os.fork()
        if child == 0:
            _run_child(run, trust, parent, output, errors)
        try:
            watched = _watch(run, child, started, commands, wake)
        except SystemExit:
            _end(child)
            raise
        if watched is None:
            _end(child)
            return None
        reason, status, usage = watched
        measured = {
            "wall": round(time.perf_counter() - started, 4),
            "cpu": round(usage.ru_utime + usage.ru_stime, 4),
            "peak_memory": usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024),
        }
        return _payload(run, reason, status, measured, output, errors)


def _watch(
    run: Run, child: int, started: float, commands: int, wake: int
) -> tuple[Reason | None, int, resource.struct_rusage] | None:
    """Wait until the child has ended, by itself or for a broken limit; None if the experiment is gone."""
    ticks = 0
    while True:
        done, status, usage = os.wait4(child, os.WNOHANG)
        if done:
            return None, status, usage
        ready, _, _ = select.select([commands, wake], [], [], TICK)
        if commands in ready:  # nothing is sent during a run: this is the end of the pipe
            return None
        if wake in ready:
            with contextlib.suppress(BlockingIOError):
                os.read(wake, 4096)
            continue
        ticks += 1
        reason = _excess(run, child, time.perf_counter() - started, ticks % FAMILY_TICKS == 0)
        if reason is not None:
            _end(child)
            _, status, usage = os.wait4(child, 0)
            return reason, status, usage


def _run_child(run: Run, trust: list[str], parent: int, output: BinaryIO, errors: BinaryIO) -> None:
    """In the child: tie it to its parent, limit it, run, write. Never returns."""
    code = 1
    try:
        os.setsid()
        die_with_parent(parent)
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGINT, signal.default_int_handler)
        for name in (signal.SIGCHLD, signal.SIGTERM):
            signal.signal(name, signal.SIG_DFL)
        null = os.open(os.devnull, os.O_RDONLY)
        for source, target in ((null, 0), (errors.fileno(), 1), (errors.fileno(), 2)):
            os.dup2(source, target)
        if run.limits.memory is not None:
            space = psutil.Process().memory_info().vms + run.limits.memory + ADDRESS_SLACK
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            with contextlib.suppress(ValueError, OSError):  # a lower hard limit already holds
                resource.setrlimit(resource.RLIMIT_AS, (space, hard))
        output.write("\n".join(execute(run, trust)).encode())
        output.flush()
        code = 0
    except BaseException:
        traceback.print_exc()  # its last line becomes the reason
        sys.stderr.flush()
    finally:
        os._exit(code)


def _excess(run: Run, child: int, seconds: float, family: bool) -> Reason | None:
    """Which limit the run has broken, if any: (kind, sentence)."""
    limits = run.limits
    if limits.wall_seconds is not None and seconds > limits.wall_seconds:
        return "timeout", f"ended after {limits.wall_seconds:g} s of wall clock"
    if limits.memory is None:
        return None
    try:
        process = psutil.Process(child)
        members = [process, *(process.children(recursive=True) if family else ())]
        used = sum(member.memory_info().rss for member in members)
    except psutil.Error:  # it has just ended
        return None
    return ("memory", f"used more than {limits.memory / 1e6:.0f} MB") if used > limits.memory else None


def _end(child: int) -> None:
    """Kill the child and whatever it started; it is still to be waited for."""
    with contextlib.suppress(psutil.Error):
        for process in psutil.Process(child).children(recursive=True):
            with contextlib.suppress(psutil.Error):
                process.kill()
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)


def _payload(
    run: Run,
    reason: Reason | None,
    status: int,
    measured: dict[str, Any],
    output: BinaryIO,
    errors: BinaryIO,
) -> bytes:
    """The result's lines, with what was measured from outside put into the summary."""
    code = os.waitstatus_to_exitcode(status)
    if reason is None and code == 0:
        output.seek(0)
        first, _, rest = output.read().decode().partition("\n")
        return "\n".join([json.dumps({**json.loads(first), **measured}), *([rest] if rest else [])]).encode()
    if reason is None:
        cause = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        errors.seek(max(0, errors.seek(0, os.SEEK_END) - TAIL))
        last = errors.read().decode(errors="replace").strip().splitlines()[-1:]
        reason = ("crash", ": ".join([cause, *last]))
    return json.dumps({**failure(run, *reason), **measured}).encode()
