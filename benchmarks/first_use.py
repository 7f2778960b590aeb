"""What a new user meets in the first minute, measured: ``python -m benchmarks.first_use [--wheel FILE] [--record]``.

A wheel (built if none is given) is installed into a fresh environment outside the checkout. Every problem is solved by
the *first* call ever of that environment, with an empty home, and then again: the last of ``--calls`` calls is what the
first must equal. Nothing may be compiled, by Numba's own events and by the folder that compiled kernels would be kept
in. ``--record`` writes the table to ``benchmarks/recorded/first_use.json`` with date, commit and processor.
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from tests.wheel import build, megabytes_in

from dabp.formats import write
from dabp.lab.generators import generate
from dabp.problem import Problem
from dabp.problem.grid import grid

ROOT = Path(__file__).parents[1]
RECORD = ROOT / "benchmarks" / "recorded" / "first_use.json"
LIMIT_SECONDS = 2.0

EVENTS = """
import sys
from numba.core import event
from dabp.__main__ import main
with event.install_recorder("numba:compile") as recorder:
    try:
        main()
    except SystemExit:
        pass
print(sum(one.is_start for _, one in recorder.buffer), file=sys.stderr)
"""
"""The command line with a count of what Numba compiled as the last line of standard error."""

FIRST_ITERATION = """
import sys, dabp
problem = dabp.read(sys.argv[1])
dabp.solve(problem, "dabp", max_iterations=1)
"""


@dataclass(frozen=True)
class Row:
    """One measurement: what, how much, and the most that it may be."""

    what: str
    value: float
    most: float
    unit: str = "s"

    @property
    def holds(self) -> bool:
        """Whether it is within its bar."""
        return self.value <= self.most

    def line(self) -> str:
        """A row of the table."""
        return f"{self.what:58s} {self.value:9.3f} {self.unit:3s} (≤ {self.most:g}) {'ok' if self.holds else 'MISSED'}"


def problems() -> dict[str, Problem]:
    """One of each kind, fresh seeds."""
    rng = np.random.default_rng(7)
    tables = rng.integers(0, 101, (2 * 100 * 99, 5, 5)).astype(float)
    places = np.arange(10_000).reshape(100, 100)
    pairs = [*zip(places[:, :-1].flat, places[:, 1:].flat, strict=True)]
    pairs += [*zip(places[:-1].flat, places[1:].flat, strict=True)]
    smooth = rng.integers(0, 16, (10, 10)).repeat(20, 0).repeat(20, 1)
    image = 20.0 * (smooth[..., None] != np.arange(16)) + rng.integers(0, 30, (200, 200, 16))
    scopes = [tuple(rng.choice(60, 3, replace=False).tolist()) for _ in range(150)]
    triples = [(scope, rng.integers(0, 100, (4, 4, 4)) * 1.0) for scope in scopes]
    return {
        "random COP, 100 variables": generate("random-cop", variables=100, density=0.25, seed=7),
        "colouring, 300 variables": generate("graph-coloring", variables=300, density=0.05, seed=7),
        "image 200×200, 16 labels": grid(image, "potts", weights=12.0),
        "grid 100×100, 5 values": Problem.from_tables(
            [5] * 10_000, [((int(a), int(b)), t) for (a, b), t in zip(pairs, tables, strict=True)]
        ),
        "ternary, 60 variables": Problem.from_tables([4] * 60, triples),
    }


class Environment:
    """A fresh virtual environment with the wheel, and a home of its own for each problem."""

    def __init__(self, folder: Path, wheel: Path):
        self.folder = folder
        venv.create(folder / "venv", with_pip=True)
        self.python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        subprocess.run(
            [self.python, "-m", "pip", "install", "-q", "--disable-pip-version-check", str(wheel)], check=True
        )

    def run(self, home: str, *words: str) -> tuple[float, subprocess.CompletedProcess[str]]:
        """Wall clock and output of a call of Python."""
        place = self.folder / home
        place.mkdir(exist_ok=True)
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("DABP_", "NUMBA_", "PYTHON", "XDG_"))}
        environment = {**kept, "HOME": str(place), "LOCALAPPDATA": str(place)}
        started = time.perf_counter()
        done = subprocess.run(
            [self.python, *words], env=environment, cwd=self.folder, capture_output=True, text=True, check=False
        )
        wall = time.perf_counter() - started
        if done.returncode:
            sys.exit(f"{' '.join(words)[-80:]} ended with {done.returncode}: {done.stderr}")
        return wall, done

    def kernels(self, home: str) -> int:
        """How many kernels were compiled into a home."""
        return len(list((self.folder / home).rglob("*.kernel")))


def first_calls(environment: Environment, calls: int) -> Iterator[Row]:
    """The first call ever of each problem beside the last of many."""
    for number, (name, problem) in enumerate(problems().items()):
        file, home = environment.folder / f"p{number}.cfn", f"home{number}"
        write(problem, file)
        words = ("solve", str(file), "--time", str(LIMIT_SECONDS), "--json", "--quiet")
        wall, done = environment.run(home, "-m", "dabp", *words)
        costs = [json.loads(done.stdout)["cost"]]
        for _ in range(calls - 1):
            again = environment.run(home, "-m", "dabp", *words)[1]
            costs.append(json.loads(again.stdout)["cost"])
        compiled = int(environment.run(f"{home}-events", "-c", EVENTS, *words)[1].stderr.split()[-1])
        compiled += environment.kernels(home) + environment.kernels(f"{home}-events")
        yield Row(f"{name}: wall clock of the first call", wall, LIMIT_SECONDS + 0.4)
        yield Row(f"{name}: above call {calls}", 100 * (costs[0] - costs[-1]) / max(abs(costs[-1]), 1e-9), 0.1, "%")
        yield Row(f"{name}: kernels compiled", compiled, 0, "")


def start_up(environment: Environment) -> Iterator[Row]:
    """Small problems, medians of seven."""
    small, larger = environment.folder / "ten.cfn", environment.folder / "sixty.cfn"
    write(generate("random-cop", variables=10, domain=3, density=0.4, seed=0), small)
    write(generate("random-cop", variables=60, density=0.25, seed=0), larger)
    for name, words, most in (
        ("dabp solve of 10 variables", ("-m", "dabp", "solve", str(small), "--quiet"), 0.4),
        ("-s dabp, 60 variables, one iteration", ("-c", FIRST_ITERATION, str(larger)), 0.6),
        ("dabp --help", ("-m", "dabp", "--help"), 0.4),
    ):
        walls = [environment.run("start-up", *words)[0] for _ in range(8)][1:]
        yield Row(f"{name}: wall clock", statistics.median(walls), most)


def main() -> None:
    """Install, measure, print, record."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--wheel", type=Path, help="measure this one instead of building one")
    parser.add_argument("--calls", type=int, default=5, help="how often each problem is solved")
    parser.add_argument("--record", action="store_true", help=f"write {RECORD.relative_to(ROOT)}")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dabp-first-use-") as place:
        folder = Path(place)
        wheel = options.wheel.resolve() if options.wheel else build(folder)[0]
        environment = Environment(folder, wheel)
        rows = [
            Row("wheel", wheel.stat().st_size / 1e6, 20.0, "MB"),
            Row("environment with the wheel and what it needs", megabytes_in(folder / "venv"), 450.0, "MB"),
        ]
        for row in (*rows, *first_calls(environment, options.calls), *start_up(environment)):
            print(row.line(), flush=True)
            rows += [row] if row not in rows else []
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"load average at the end {load:.1f}; {sum(not row.holds for row in rows)} of {len(rows)} bars missed")
    if options.record:
        commit = subprocess.run(
            ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True
        ).stdout
        about = {
            "command": "python -m benchmarks.first_use " + f"--calls {options.calls}",
            "date": dt.date.today().isoformat(),
            "commit": commit.strip(),
            "processor": _processor(),
            "cores": os.cpu_count(),
            "load": round(load, 1),
        }
        text = json.dumps({**about, "rows": [asdict(row) for row in rows]}, indent=1, ensure_ascii=False)
        RECORD.write_text(text + "\n", encoding="utf-8")
    sys.exit(0 if all(row.holds for row in rows) else 1)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


if __name__ == "__main__":
    main()
