"""The program of a worker: ``python -m dabp.lab.experiments.worker_process fork|spawn``, of a `run_workers.Worker`.

Standard input brings the `Preparation`, then a run a line; standard output takes a line for each. The worker watches
the time and the memory of the run's process. All processes end with the experiment, even if it is killed: the worker
when standard input closes or its parent is gone, the run's process when its worker is gone.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Mapping
from multiprocessing.connection import wait
from typing import Any, BinaryIO

import psutil

import dabp
from dabp.lab.experiments.execution import execute, failure
from dabp.lab.experiments.experiment_plan import Run
from dabp.lab.experiments.run_workers import Preparation, end, last_line
from dabp.lab.experiments.usage import usage

TICK_SECONDS = 0.05
"""Time between two readings of a run's memory."""

IDLE_SECONDS = 300
"""Time without a run after which the worker ends: on a cluster a killed experiment does not close its input."""


def main() -> None:
    """Prepare, then execute one run after another until standard input closes."""
    commands, replies = _taken_streams()
    experiment = os.getppid()
    preparation = Preparation(**json.loads(commands.readline()))
    sys.path += [folder for folder in preparation.path if folder not in sys.path]
    context = multiprocessing.get_context(sys.argv[1])
    if sys.argv[1] == "fork":
        prepare(preparation)
    _reply(replies, "ready")
    _alarm(IDLE_SECONDS)
    while line := commands.readline():
        _alarm(0)
        run = Run.from_dict(json.loads(line))
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_execute, args=(run, preparation.trust, preparation.path, sender))  # type: ignore[attr-defined]
        os.ftruncate(2, os.lseek(2, 0, os.SEEK_SET))  # what an earlier run printed
        process.start()
        sender.close()
        try:
            results = _supervise(run, process, receiver, experiment)
        finally:
            end(process.pid)
            process.join()
            receiver.close()
        _reply(replies, results)
        _alarm(IDLE_SECONDS)


def prepare(preparation: Preparation) -> None:
    """Import and rehearse. What fails here fails again in the run that needs it, and is reported there."""
    for module in preparation.modules:
        with contextlib.suppress(ImportError):
            importlib.import_module(module)
    for solver, parameters, family, shape in preparation.rehearsals:
        with contextlib.suppress(Exception):
            problem = dabp.generate(family, **shape, seed=0)
            dabp.solve(problem, solver, params=parameters, max_iterations=25, time_limit=1.0)


def _taken_streams() -> tuple[BinaryIO, BinaryIO]:
    """Standard input and output for this module alone: what a solver prints goes to standard error."""
    commands, replies = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(2, 1)
    return commands, replies


def _reply(replies: BinaryIO, text: str) -> None:
    replies.write(text.encode() + b"\n")
    replies.flush()


def _alarm(seconds: int) -> None:
    """End this process after some seconds by a signal; 0 cancels that."""
    if sys.platform != "win32":
        signal.alarm(seconds)


def _supervise(run: Run, process: Any, receiver: Any, experiment: int) -> str:
    """The results of a run as JSON. Limits count from the first message, which says that all imports are done."""
    begun, ticks = 0.0, 0
    measured: dict[str, Any] = {"wall": 0.0, "cpu": 0.0, "peak_memory": 0}
    while True:
        wait([receiver, process.sentinel], TICK_SECONDS)
        if os.getppid() != experiment or not psutil.pid_exists(experiment):
            sys.exit()
        if receiver.poll():
            with contextlib.suppress(EOFError, OSError):
                message: bytes = receiver.recv_bytes()
                if message:
                    return message.decode()
                begun = time.perf_counter()
                continue
        if not process.is_alive():
            return _failure(run, ("crash", _ended(process)), measured)
        if begun:
            ticks += 1
            seconds = time.perf_counter() - begun
            measured["wall"] = round(seconds, 4)
            reason = _excess(run, process.pid, measured, ticks % 5 == 0)
            if reason is not None:
                return _failure(run, reason, measured)


def _failure(run: Run, reason: tuple[str, str], measured: Mapping[str, Any]) -> str:
    return json.dumps([[{**failure(run, *reason), **measured}]])


def _excess(run: Run, pid: int, measured: dict[str, Any], family: bool) -> tuple[str, str] | None:
    """The limit that a run has broken, if any; `measured` takes its use, `family` adds its children, which is slow."""
    with contextlib.suppress(psutil.Error):  # it has just ended
        process = psutil.Process(pid)
        times, used = process.cpu_times(), process.memory_info().rss
        measured["cpu"] = round(times.user + times.system, 4)
        measured["peak_memory"] = max(measured["peak_memory"], used)
        used += sum(child.memory_info().rss for child in process.children(recursive=True)) if family else 0
        if run.limits.memory is not None and used > run.limits.memory:
            return "memory", f"used more than {run.limits.memory / 1e6:.0f} MB"
    if run.limits.wall_seconds is not None and measured["wall"] > run.limits.wall_seconds:
        return "timeout", f"ended after {run.limits.wall_seconds:g} s of wall clock"
    return None


def _ended(process: Any) -> str:
    """How a process ended without a result, with the last line of its standard error."""
    process.join()
    code = process.exitcode
    ended = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
    if code >= 256:
        ended = f"exit code {code:#x}"  # Windows counts exceptions in hexadecimal
    with os.fdopen(os.dup(2), "rb") as errors:
        return ": ".join([ended, *last_line(errors)])


def _execute(run: Run, trust: list[str], path: list[str], sender: Any) -> None:
    """In the run's process: execute the run, and send its results. Never returns."""
    sys.path += [folder for folder in path if folder not in sys.path]
    _alarm(0)
    threading.Thread(target=_end_with_worker, daemon=True).start()
    sender.send_bytes(b"")
    started, imports = time.perf_counter(), time.process_time()
    results = execute(run, trust)
    used = usage()
    wall, cpu = round(time.perf_counter() - started, 4), round(used["cpu"] - imports, 4)
    results[0][0] |= {**used, "wall": wall, "cpu": cpu}
    sender.send_bytes(json.dumps(results).encode())
    os._exit(0)  # the other thread waits for ever


def _end_with_worker() -> None:
    worker = multiprocessing.parent_process()
    assert worker is not None
    worker.join()
    end(os.getpid())


if __name__ == "__main__":
    main()
