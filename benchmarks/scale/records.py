"""Measurements as lines of JSON: each made by a process of its own, the last with a key counts."""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parents[1] / "recorded" / "scale.jsonl"


class Records:
    """What was measured, by key."""

    def __init__(self, path: Path = RECORDED):
        self._path = path
        self.rows: dict[str, dict[str, Any]] = {}
        self._read()

    def _read(self) -> None:
        """Another process may have recorded meanwhile."""
        if self._path.exists():
            rows = map(json.loads, self._path.read_text(encoding="utf-8").splitlines())
            self.rows = {row["key"]: row for row in rows}

    @staticmethod
    def key(part: str, arguments: dict[str, Any]) -> str:
        """A measurement's name."""
        return " ".join([part, *map(str, arguments.values())])

    def part(self, part: str) -> list[dict[str, Any]]:
        """The rows of one part."""
        return [row for row in self.rows.values() if row["part"] == part]

    def measure(self, part: str, arguments: dict[str, Any]) -> None:
        """Measure in a fresh process, print and keep the row."""
        key = self.key(part, arguments)
        command = [sys.executable, "-m", "benchmarks.scale", "--measure", part, json.dumps(arguments)]
        started = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            print(f"{key}: failed with {done.returncode} after {time.perf_counter() - started:.0f} s", flush=True)
            return
        row = {"key": key, "part": part, **arguments, **json.loads(done.stdout.splitlines()[-1])}
        row |= {"date": time.strftime("%Y-%m-%d %H:%M"), "load": round(os.getloadavg()[0], 2)}
        self._read()
        self.rows[key] = row
        kept = list(self.rows.values())
        self._path.write_text("".join(json.dumps(one) + "\n" for one in kept), encoding="utf-8")
        print(json.dumps(row), flush=True)


def peak_gigabytes() -> float:
    """The most memory that this process has held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
