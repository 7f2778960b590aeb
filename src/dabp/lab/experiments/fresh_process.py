"""A worker that starts a new process for each run, where forking is unsafe (macOS) or unknown (Windows)."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
import time
from typing import IO, Any

import psutil

from dabp.errors import DabpError
from dabp.lab.experiments.messages import send
from dabp.lab.experiments.plan import Run
from dabp.lab.experiments.preparation import Preparation
from dabp.lab.experiments.supervision import FAMILY_TICKS, TICK, Reason, end, excess, last_line, result_lines
from dabp.lab.experiments.worker import Worker, WorkerDiedError, environment
from dabp.solvers.process_group import start_apart


class FreshProcesses(Worker):
    """Each run imports everything anew, which takes about a second of its own; limits count from then on."""

    def __init__(self, preparation: Preparation | None = None):
        super().__init__(preparation)
        self._process: subprocess.Popen[bytes] | None = None

    def run(self, run: Run) -> bytes:
        """See `Worker`."""
        if self.closed:
            raise WorkerDiedError
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
            try:
                command = [sys.executable, "-m", "dabp.lab.experiments.single_run"]
                process = start_apart(
                    command, stdin=subprocess.PIPE, stdout=output, stderr=errors, env=environment(), bufsize=0
                )
            except OSError as error:
                raise DabpError(f"no process can be started to run in: {error.strerror}") from None
            self._process = process
            assert process.stdin is not None
            try:
                with contextlib.suppress(OSError):  # it ended at once, which `_watch` reports
                    order = {"run": run.to_dict(), "trust": self.preparation.trust}
                    send(process.stdin.fileno(), json.dumps(order).encode())
                reason, measured = self._watch(run, process, output, errors)
            finally:
                end(process.pid)
                process.wait()
                process.stdin.close()
            return result_lines(run, reason, process.returncode, measured, output, errors)

    def close(self) -> None:
        """See `Worker`."""
        self.closed = True
        if self._process is not None and self._process.poll() is None:
            end(self._process.pid)

    def _watch(
        self, run: Run, process: subprocess.Popen[bytes], output: IO[bytes], errors: IO[bytes]
    ) -> tuple[Reason | None, dict[str, Any]]:
        """Wait until the run has ended, by itself or for a broken limit; what was measured from outside."""
        ticks, begun = 0, 0.0
        measured: dict[str, Any] = {"wall": 0.0, "cpu": 0.0, "peak_memory": 0}
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(TICK)
            if self.closed:
                raise WorkerDiedError
            if not begun and os.fstat(output.fileno()).st_size > 0:
                begun = time.perf_counter()
            if process.returncode is not None:
                if not begun:
                    said = last_line(errors) or [f"exit code {process.returncode}"]
                    raise DabpError(f"the process of a run ended at once: {said[0]}")
                return None, measured
            if not begun:
                continue
            ticks += 1
            seconds = time.perf_counter() - begun
            _measure(process.pid, seconds, measured)
            reason = excess(run, process.pid, seconds, ticks % FAMILY_TICKS == 0)
            if reason is not None:
                return reason, measured


def _measure(pid: int, seconds: float, measured: dict[str, Any]) -> None:
    """What a run has used so far; kept for runs that do not live to say it themselves."""
    measured["wall"] = round(seconds, 4)
    with contextlib.suppress(psutil.Error):
        process = psutil.Process(pid)
        times = process.cpu_times()
        measured["cpu"] = round(times.user + times.system, 4)
        measured["peak_memory"] = max(measured["peak_memory"], process.memory_info().rss)
