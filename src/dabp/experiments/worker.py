"""The experiment's end of a fork server: start it, give it runs, start it anew if it dies."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys

from dabp.experiments.execution import failure
from dabp.experiments.messages import receive, send
from dabp.experiments.plan import Run
from dabp.experiments.preparation import Preparation

ATTEMPTS = 3
"""How often a run is tried whose server was killed under it."""

THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
)
"""Set to 1 for runs: an experiment is parallel over runs, and times are comparable only on one thread each."""


class WorkerDiedError(Exception):
    """The fork server is gone: it was killed, or it was closed while a run was on."""


class Worker:
    """One fork server, started when first needed; runs one run at a time."""

    def __init__(self, preparation: Preparation | None = None):
        self.preparation = preparation or Preparation()
        self._process: subprocess.Popen[bytes] | None = None
        self._commands = self._replies = -1
        self.closed = False

    @property
    def pid(self) -> int | None:
        """The server's process, if it lives."""
        return None if self._process is None else self._process.pid

    def run(self, run: Run) -> bytes:
        """The lines of a run's result. A run that kills its server over and over is recorded as lost."""
        for _ in range(ATTEMPTS):
            if self.closed:
                break
            try:
                return self._ask(json.dumps(run.to_dict()).encode())
            except (WorkerDiedError, OSError):
                self._stop()
        if self.closed:
            raise WorkerDiedError
        return json.dumps(failure(run, "lost", f"its worker died {ATTEMPTS} times")).encode()

    def close(self) -> None:
        """End the server, and the run it may be running. May be called from another thread."""
        self.closed = True
        process = self._process
        if process is not None:
            process.terminate()  # closing the pipe alone would not wake a thread that reads from it
            try:
                process.wait(timeout=5)
            except subprocess.TimeoutExpired:  # it is still loading; no run has begun
                process.kill()
                process.wait()

    def _ask(self, message: bytes) -> bytes:
        if self._process is None:
            self._start()
        send(self._commands, message)
        reply = receive(self._replies)
        if reply is None:
            raise WorkerDiedError
        return reply

    def _start(self) -> None:
        commands_read, self._commands = os.pipe()
        self._replies, replies_write = os.pipe()
        environment = {**os.environ, **dict.fromkeys(THREAD_VARIABLES, "1")}
        self._process = subprocess.Popen(
            [sys.executable, "-m", "dabp.experiments.fork_server", str(commands_read), str(replies_write)],
            pass_fds=(commands_read, replies_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env=environment,
            start_new_session=True,  # an interrupt from the terminal is for the experiment
        )
        os.close(commands_read)
        os.close(replies_write)
        send(self._commands, json.dumps(self.preparation.to_dict()).encode())
        reply = receive(self._replies)
        if reply is None:
            raise WorkerDiedError
        if json.loads(reply)["threads"] > 1 and self.preparation != Preparation():
            # Forking a process with threads can deadlock the child: prepare nothing, let each run load for itself.
            self._stop()
            self.preparation = Preparation()
            self._start()

    def _stop(self) -> None:
        process, self._process = self._process, None
        for descriptor in (self._commands, self._replies):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._commands = self._replies = -1
        if process is not None:
            process.kill()
            process.wait()
