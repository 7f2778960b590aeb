"""An experiment ended again and again: what was finished stays, and the end is that of an undisturbed one."""

from __future__ import annotations

import json
import random
import signal
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from checks.kills.process import Process

VARYING = {"runtime", "generation_time", "wall", "cpu", "peak_memory", "time"}
PLAN = """
[limits]
iterations = 3000
wall = 60
[[instances]]
family = "random-cop"
seeds = 12
parameters = { variables = 30, domain = 6, density = 0.3 }
[[solvers]]
solver = "tabu"
[[solvers]]
solver = "dbp"
parameters = { restarts = 20 }
"""


def chain(kills: int, rng: random.Random) -> Iterator[str]:
    """End the experiment `kills` times, going on each time; what is wrong, in words."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "plan.toml").write_text(PLAN)
        words = [sys.executable, "-m", "checks.kills.child", "lab", "experiment", "run", "plan.toml"]
        words += ["--jobs", "2", "-o"]
        code, _, err = Process([*words, "calm"], folder).ended(600)
        if code != 0:
            yield f"the undisturbed experiment ended with {code}: {err[-200:]}"
            return
        before: dict[str, Any] = {}
        for _ in range(kills):
            process = Process([*words, "killed"], folder)
            number = rng.choice((signal.SIGKILL, signal.SIGTERM, signal.SIGINT))
            hit = process.strike(number, rng.uniform(0.0, 8.0))
            code, _, err = process.ended()
            for survivor in process.survivors():
                yield f"experiment, {number.name}: a child process lives on: {survivor}"
            if number is not signal.SIGKILL and "Traceback" in err:
                yield f"experiment, {number.name}: a traceback: {err.splitlines()[-1]}"
            if code is None or (hit and number is not signal.SIGKILL and code not in (0, 130, -number)):
                yield f"experiment, {number.name}: ended with {code}"
            now = _results(folder / "killed")
            if any(now.get(key) != rows for key, rows in before.items()):
                yield f"experiment, {number.name}: a finished result is gone or another"
            before = now
        Process([*words, "killed"], folder).ended(600)
        if _results(folder / "killed") != _results(folder / "calm"):
            yield "experiment: the results are not those of an undisturbed one"
        left = [path.name for path in (folder / "killed").rglob("*") if path.name.endswith(".tmp")]
        if left or any((folder / "temporary").iterdir()):
            yield f"experiment: files left: {left} {[path.name for path in (folder / 'temporary').iterdir()]}"


def _results(folder: Path) -> dict[str, Any]:
    """Every result, times aside."""
    found = {}
    for path in (folder / "runs").glob("[!.]*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        found[path.stem] = [{key: value for key, value in row.items() if key not in VARYING} for row in rows]
    return found
