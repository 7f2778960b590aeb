"""A process that has imported everything and forks a child for each run: a run costs milliseconds, not an import.

Linux only. Started by `tethered`. It is single-threaded, and checks that it is before it forks. It ends, and the child
with it, when the other side of its pipe is gone: whatever happens to the experiment, no run is left behind.
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
from typing import BinaryIO

import psutil

from dabp.lab.experiments.execution import execute
from dabp.lab.experiments.messages import receive, send
from dabp.lab.experiments.plan import Run
from dabp.lab.experiments.preparation import Preparation, prepare
from dabp.lab.experiments.supervision import FAMILY_TICKS, TICK, Reason, end, excess, result_lines
from dabp.lab.experiments.tethered import die_with_parent

assert sys.platform == "linux"

ADDRESS_SLACK = 1 << 30
"""Address space beyond the memory limit: reserved, never touched pages must not end a run."""
IDLE = 300.0
"""Seconds without a run after which the server ends by itself; the next run starts a new one."""


def serve(commands: int, replies: int) -> None:
    """Import and rehearse what is asked, say ready, then run one run after another until the pipe closes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the experiment decides what an interrupt means
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    wake_read, wake_write = os.pipe()
    for wake in (wake_read, wake_write):
        os.set_blocking(wake, False)
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
            end(child)
            raise
        if watched is None:
            end(child)
            return None
        reason, status, usage = watched
        measured = {
            "wall": round(time.perf_counter() - started, 4),
            "cpu": round(usage.ru_utime + usage.ru_stime, 4),
            "peak_memory": usage.ru_maxrss * 1024,
        }
        return result_lines(run, reason, os.waitstatus_to_exitcode(status), measured, output, errors)


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
        reason = excess(run, child, time.perf_counter() - started, ticks % FAMILY_TICKS == 0)
        if reason is not None:
            end(child)
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
