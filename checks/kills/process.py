"""A command in a process of its own, ended at a moment, and what it leaves behind."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

import psutil

PATIENCE = 30.0
"""Seconds within which a signal must be answered: much, since the machine may be busy compiling."""
WORK = 10.0
"""Seconds of processor time that a process has for it in any case, however many others there are on the machine."""
LONGEST = 300.0
"""Seconds after which it is not waited for, whatever it has come to."""
SURVIVAL = 2.0
"""Seconds that a child process may outlive its parent."""


class Process:
    """One run of a command in `folder`, whose temporary files go to a folder of their own."""

    def __init__(self, command: Sequence[str], folder: Path):
        self.temporary = folder / "temporary"
        self.temporary.mkdir(exist_ok=True)
        self._err = open(folder / "stderr", "w+", encoding="utf-8")  # noqa: SIM115 - closed in `ended`
        self._out = open(folder / "stdout", "w+", encoding="utf-8")  # noqa: SIM115
        environment = {**os.environ, "TMPDIR": str(self.temporary)}
        self._process = subprocess.Popen(command, stdout=self._out, stderr=self._err, cwd=folder, env=environment)
        self._family: set[psutil.Process] = set()

    def strike(self, number: signal.Signals, after: float) -> bool:
        """Wait, note its children, send a signal; False if it had ended before."""
        deadline = time.monotonic() + after
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                return False
            time.sleep(0.01)
        try:
            self._family |= set(psutil.Process(self._process.pid).children(recursive=True))
            self._process.send_signal(number)
        except (psutil.Error, ProcessLookupError):
            return False
        return True

    def ended(self, patience: float = PATIENCE) -> tuple[int | None, str, str]:
        """Its exit code (None: it had to be killed), standard output and standard error."""
        code: int | None = None
        begun, work = time.monotonic(), self._work()
        while code is None:
            try:
                code = self._process.wait(1.0)
            except subprocess.TimeoutExpired:
                waited = time.monotonic() - begun
                if waited > max(LONGEST, patience) or (waited > patience and self._work() - work > WORK):
                    self._process.kill()
                    self._process.wait()
                    break
        texts = []
        for stream in (self._out, self._err):
            stream.seek(0)
            texts.append(stream.read())
            stream.close()
        return code, texts[0], texts[1]

    def _work(self) -> float:
        """Seconds of processor time so far."""
        try:
            times = psutil.Process(self._process.pid).cpu_times()
        except psutil.Error:
            return 0.0
        return float(times.user + times.system)

    def survivors(self) -> list[str]:
        """Children that live on longer than they may; they are killed."""
        deadline = time.monotonic() + SURVIVAL
        while (alive := [each for each in self._family if _lives(each)]) and time.monotonic() < deadline:
            time.sleep(0.05)
        names = []
        for each in alive:
            try:
                names.append(" ".join(each.cmdline())[-80:])
                each.kill()
            except psutil.Error:
                continue
        return names


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
