"""The experiment's end of a fork server: start it, give it runs, start it anew if it dies."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import tempfile
from typing import IO

from dabp.errors import DabpError
from dabp.lab.experiments.execution import failure
from dabp.lab.experiments.messages import receive, send
from dabp.lab.experiments.plan import Run
from dabp.lab.experiments.preparation import Preparation
from dabp.lab.experiments.worker import Worker, WorkerDiedError, environment

ATTEMPTS = 3
"""How often a run is tried whose server was killed under it."""


class ForkClient(Worker):
    """One fork server, started when first needed."""

    def __init__(self, preparation: Preparation | None = None):
        super().__init__(preparation)
        self._process: subprocess.Popen[bytes] | None = None
        self._commands = self._replies = -1

    def run(self, run: Run) -> bytes:
        """See `Worker`. A run that kills its server over and over is recorded as lost."""
        for _ in range(ATTEMPTS):
            if self.closed:
                break
            try:
                if self._process is None:
                    self._start()
                return self._ask(json.dumps(run.to_dict()).encode())
            except WorkerDiedError:
                self._stop()
        if self.closed:
            raise WorkerDiedError
        return json.dumps(failure(run, "lost", f"its worker died {ATTEMPTS} times")).encode()

    def close(self) -> None:
        """See `Worker`."""
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
        try:
            send(self._commands, message)
            reply = receive(self._replies)
        except OSError:  # nobody reads any more
            raise WorkerDiedError from None
        if reply is None:
            raise WorkerDiedError
        return reply

    def _start(self) -> None:
        """Start the server. What keeps it from starting is no run's fault and ends the experiment."""
        try:
            with tempfile.TemporaryFile() as errors:
                self._launch(errors)
                if self.closed:  # in the meantime, from another thread, which saw no process to end
                    raise WorkerDiedError
                try:
                    reply = self._ask(json.dumps(self.preparation.to_dict()).encode())
                except WorkerDiedError:
                    assert self._process is not None
                    if self._process.wait(timeout=5) > 0:
                        errors.seek(0)
                        said = errors.read().decode(errors="replace").strip().splitlines()
                        reason = said[-1] if said else f"exit code {self._process.returncode}"
                        raise DabpError(f"the process that runs are started from ended at once: {reason}") from None
                    raise
        except OSError as error:
            self._stop()
            raise DabpError(f"no process can be started to run in: {error.strerror}") from None
        if json.loads(reply)["threads"] > 1 and self.preparation != self._least():
            # Forking a process with threads can deadlock the child: prepare nothing, let each run load for itself.
            self._stop()
            self.preparation = self._least()
            self._start()

    def _least(self) -> Preparation:
        """What a server must know even if it prepares nothing."""
        return Preparation(trust=self.preparation.trust)

    def _launch(self, errors: IO[bytes]) -> None:
        commands_read, self._commands = os.pipe()
        self._replies, replies_write = os.pipe()
        numbers = (commands_read, replies_write, os.getpid())
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "dabp.lab.experiments.tethered", *map(str, numbers)],
                pass_fds=(commands_read, replies_write),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=errors,
                env=environment(),
                start_new_session=True,  # an interrupt from the terminal is for the experiment
            )
        finally:
            os.close(commands_read)
            os.close(replies_write)

    def _stop(self) -> None:
        process, self._process = self._process, None
        for descriptor in (self._commands, self._replies):
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._commands = self._replies = -1
        if process is not None:
            process.kill()
            process.wait()
