"""The process that toulbar2 runs in."""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import psutil
from numpy.typing import NDArray

from dabp.compiling import working_seconds
from dabp.problem.guard import Guard
from dabp.solvers.process_group import start_apart


class Child:
    """A child process with a guard of its own, whose lines arrive in a queue.

    Parameters
    ----------
    order
        Settings, JSON-able; sent with a description of the columns.
    columns
        The problem's arrays: float64 or int64.
    guard
        Asked while the columns are sent; a child whose columns are incomplete ends.
    """

    def __init__(self, order: Mapping[str, Any], columns: Mapping[str, NDArray[Any]], guard: Guard):
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._worker: psutil.Process | None = None
        self._memory_read, self._memory_read_at = 0, 0.0
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._process = start_apart(
            [sys.executable, "-P", str(Path(__file__).with_name("child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self._reader = threading.Thread(target=self._listen, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        with contextlib.suppress(BrokenPipeError):  # a child that cannot start is reported when a line is read
            self._send(order, columns, guard)

    def _send(self, order: Mapping[str, Any], columns: Mapping[str, NDArray[Any]], guard: Guard) -> None:
        typed: dict[str, NDArray[Any]] = {
            key: column.astype(np.float64 if column.dtype.kind == "f" else np.int64, copy=False)
            for key, column in columns.items()
        }
        described = [[key, "d" if column.dtype == np.float64 else "q", len(column)] for key, column in typed.items()]
        stream = self._process.stdin
        assert stream is not None
        stream.write(json.dumps({**order, "columns": described}).encode() + b"\n")
        for column in typed.values():
            for start in range(0, len(column), 1 << 18):
                if guard.over:
                    return
                stream.write(np.ascontiguousarray(column[start : start + (1 << 18)]).data)
        stream.flush()

    def _listen(self, stream: Any) -> None:
        for line in stream:
            self._lines.put(line.decode(errors="replace"))
        self._lines.put(None)

    def line(self, wait: float) -> str | None:
        """The next line, None if the process has ended; raises `queue.Empty` after `wait` seconds without one."""
        return self._lines.get(timeout=wait) if wait else self._lines.get_nowait()

    def pause(self) -> None:
        """Stop the worker, not its guard, which must notice when this process dies."""
        with contextlib.suppress(psutil.Error):
            if (worker := self._found()) is not None:
                worker.suspend()

    def resume(self) -> None:
        """Let the stopped process run again."""
        with contextlib.suppress(psutil.Error):
            if (worker := self._found()) is not None:
                worker.resume()

    def _found(self) -> psutil.Process | None:
        """The worker: the guard's child, on Windows the process itself; None if there is none."""
        if self._worker is None and self._process.poll() is None:
            process = psutil.Process(self._process.pid)
            self._worker = process if sys.platform == "win32" else next(iter(process.children()), None)
        return self._worker

    @property
    def memory(self) -> int:
        """Bytes of resident memory of the child's processes, read twice a second."""
        now = working_seconds()
        if now - self._memory_read_at > 0.5:
            self._memory_read_at = now
            with contextlib.suppress(psutil.NoSuchProcess):
                guard = psutil.Process(self._process.pid)
                processes = [guard, *guard.children(recursive=True)]
                self._memory_read = sum(process.memory_info().rss for process in processes)
        return self._memory_read

    def obituary(self) -> str:
        """Why the process ended, in one sentence."""
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"toulbar2's process ended unexpectedly with code {code}" + (f": {said[-1]}" if said else "")

    def close(self) -> None:
        """End the process: its guard kills the worker when standard input closes; if that fails, kill the guard."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(OSError):
            process.stdin.close()
        if sys.platform == "win32":  # there is no guard
            process.kill()
        try:
            process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        self._reader.join()
        process.stdout.close()
        self._errors.close()
