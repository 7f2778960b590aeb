"""HiGHS as the solver of linear programs, in a process of its own that can be ended at any time."""

from __future__ import annotations

import contextlib
import json
import math
import subprocess
import sys
import tempfile
import threading
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dabp.solvers.linear.program import Floats, Program
from dabp.solvers.process_group import start_apart

INTERIOR_ENTRIES = 400_000
"""Entries of a program from which on the interior point method replaces the dual simplex."""


class Highs:
    """A process of HiGHS, and the linear program that it is solving.

    Attributes
    ----------
    multipliers
        A dual value of each row of the program, or of its ray where it is infeasible; None before the end.
    values
        The value of each column; None if there is none.
    infeasible
        Whether HiGHS says so; the multipliers prove it, or do not.
    error
        What went wrong.
    """

    def __init__(self) -> None:
        self._rows = 0
        self._thread: threading.Thread | None = None
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - closed in close()
        self._process = start_apart(
            [sys.executable, "-P", str(Path(__file__).with_name("child.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )

    def start(self, program: Program, seconds: float) -> None:
        """Begin to solve a program, for at most `seconds`; any other one must have ended."""
        self._rows = len(program.low)
        interior = len(program.entry) >= INTERIOR_ENTRIES
        self._start({"new": True, "interior": interior, "seconds": _finite(seconds)}, _columns(program))

    def again(self, upper: Floats, seconds: float) -> None:
        """Solve the program once more, from the basis of the last solution, with other upper bounds of the columns."""
        self._start({"new": False, "seconds": _finite(seconds)}, {"upper": upper})

    @property
    def ended(self) -> bool:
        """Whether the answer is here, or none will come."""
        return self._thread is None or not self._thread.is_alive()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; whether it has come."""
        if self._thread is not None:
            self._thread.join(seconds if math.isfinite(seconds) else None)
        return self.ended

    def close(self) -> None:
        """End the process of HiGHS and wait until it is gone."""
        self._process.kill()
        self.wait(math.inf)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout, self._errors):
            with contextlib.suppress(OSError):
                stream.close()  # type: ignore[union-attr]

    def _start(self, order: dict[str, Any], columns: dict[str, NDArray[Any]]) -> None:
        self.multipliers: Floats | None = None
        self.values: Floats | None = None
        self.infeasible, self.error = False, ""
        self._thread = threading.Thread(target=self._exchange, args=(order, columns), daemon=True)
        self._thread.start()

    def _exchange(self, order: dict[str, Any], columns: dict[str, NDArray[Any]]) -> None:
        """Send a request, read its answer."""
        described = [[name, column.dtype.kind, len(column)] for name, column in columns.items()]
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        try:
            stdin.write(json.dumps({**order, "columns": described}).encode() + b"\n")
            for column in columns.values():
                stdin.write(np.ascontiguousarray(column).data)
            stdin.flush()
            head = json.loads(stdout.readline())
            multipliers = np.frombuffer(stdout.read(8 * head["multipliers"]))
            values = np.frombuffer(stdout.read(8 * head["values"]))
        except (OSError, ValueError):
            self.error = self._obituary()
            return
        count = self._rows
        self.infeasible = head["infeasible"]
        self.multipliers = multipliers[:count] if len(multipliers) >= count > 0 else None
        self.values = values if len(values) else None

    def _obituary(self) -> str:
        """Why the process ended, in one line."""
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode(errors="replace").strip().splitlines()
        return f"its process ended with code {code}" + (f": {said[-1]}" if said else "")


def _finite(seconds: float) -> float | None:
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _columns(program: Program) -> dict[str, NDArray[Any]]:
    """The program by rows, the sums over the values of each variable behind its own."""
    count, sizes = len(program.low), np.diff(program.starts)
    row = np.concatenate([program.row, count + np.repeat(np.arange(len(sizes)), sizes)])
    order = np.argsort(row, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=count + len(sizes)))])
    return {
        "costs": program.costs,
        "upper": program.upper,
        "low": np.concatenate([program.low, np.ones(len(sizes))]),
        "high": np.concatenate([program.high, np.ones(len(sizes))]),
        "start": starts.astype(np.int32),
        "index": np.concatenate([program.column, np.arange(program.num_values)])[order].astype(np.int32),
        "value": np.concatenate([program.entry, np.ones(program.num_values)])[order],
    }
