"""What a new user meets in the first minutes, measured: ``python -m benchmarks.first_use [COMMAND …] [--record]``.

Without a command all of them, then one table; ``--record`` puts its rows into ``benchmarks/recorded/first_use.jsonl``.
Each has kernel caches of its own in a temporary folder; the user's stays as it is.

``doctor``
    ``dabp doctor --compile`` from nothing: seconds of wall clock, and of CPU in all its processes.
``quality``
    ``dabp solve --time 5`` and ``--time 10`` on four problems from nothing and with everything compiled: how late, and
    how much worse.
``limits``
    ``dabp.solve`` with limits of 1, 3 and 10 s on ten problems and solvers, from nothing each time: how late.
``startup``
    ``dabp solve`` of a small problem and ``dabp doctor`` with everything compiled.
``interrupts``
    So many Jupyter kernels, each interrupted while it solves, half of them twice: how many died, how many answered.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from benchmarks.interrupted_kernels import interrupted_kernels
from dabp.formats import write
from dabp.generators import generate
from dabp.problem import Problem

RECORD = Path(__file__).parent / "recorded" / "first_use.jsonl"
LATE_SOLVE, LATE_PYTHON = 1.5, 0.5
"""Seconds that a command and a call may take beyond their limit."""
WORSE = {5: 0.02, 10: 0.005}
"""By the limit in seconds: how much worse a cold answer may be than a warm one."""
SOLVERS = ("auto", "auto", "auto", "auto", "tabu", "bp-reinforced", "annealing", "dual", "mbe", "dabp")
"""Who solves the ten problems of `limits`."""

_TIMED = """
import json, sys, time
import dabp
problem = dabp.read(sys.argv[1])
start = time.perf_counter()
result = dabp.solve(problem, sys.argv[2], time_limit=float(sys.argv[3]))
print(json.dumps([time.perf_counter() - start, result.cost]))
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
        return f"{self.what:66s} {self.value:9.2f} {self.unit:3s} (≤ {self.most:g}) {'ok' if self.holds else 'MISSED'}"


def _ternary(seed: int) -> Problem:
    """Factors of three variables with forbidden combinations, one assignment always allowed."""
    rng = np.random.default_rng(seed)
    hidden = rng.integers(0, 4, 60)
    tables = []
    for _ in range(150):
        scope = tuple(rng.choice(60, 3, replace=False).tolist())
        table = rng.integers(0, 100, (4, 4, 4)).astype(float)
        table[rng.random(table.shape) < 0.15] = np.inf
        table[tuple(hidden[list(scope)])] = 80.0
        tables.append((scope, table))
    return Problem.from_tables([4] * 60, tables)


def _grid(side: int, domain: int, seed: int) -> Problem:
    """Variables in rows and columns, a random table between neighbours."""
    rng = np.random.default_rng(seed)
    places = np.arange(side * side).reshape(side, side)
    pairs = [*zip(places[:, :-1].flat, places[:, 1:].flat, strict=True)]
    pairs += [*zip(places[:-1].flat, places[1:].flat, strict=True)]
    tables = rng.integers(0, 101, (len(pairs), domain, domain)).astype(float)
    return Problem.from_tables(
        [domain] * side**2, [((int(a), int(b)), t) for (a, b), t in zip(pairs, tables, strict=True)]
    )


def problems() -> dict[str, Problem]:
    """The four of `quality`."""
    return {
        "random COP, 100 variables": generate("random-cop", variables=100, density=0.25, seed=7),
        "colouring with real costs": generate("graph-coloring", variables=100, density=0.1, seed=7),
        "grid 100×100": _grid(100, 5, 7),
        "ternary, forbidden combinations": _ternary(7),
    }


def _command(cache: Path, *words: str) -> tuple[float, float, str]:
    """Wall clock, CPU of all its processes, and output of a `dabp` command with a cache folder of its own."""
    environment = {**os.environ, "DABP_CACHE_DIR": str(cache)}
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "dabp", *words], env=environment, capture_output=True, text=True, check=False
    )
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        sys.exit(f"dabp {' '.join(words)} ended with {done.returncode}: {done.stderr}")
    return wall, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


class Folder:
    """A temporary folder with a cache in which everything is compiled, made when it is first needed."""

    def __init__(self, path: Path):
        self.path = path
        self._rows: list[Row] = []
        self._colds = 0

    def cold(self) -> Path:
        """An empty cache."""
        self._colds += 1
        return self.path / f"cold{self._colds}"

    def warm(self) -> Path:
        """A full one."""
        self.doctor()
        return self.path / "warm"

    def doctor(self) -> list[Row]:
        """How long filling it took."""
        if not self._rows:
            wall, cpu, _ = _command(self.path / "warm", "doctor", "--compile")
            name = "dabp doctor --compile"
            self._rows = [Row(f"{name}: wall clock", wall, 60.0), Row(f"{name}: CPU in all processes", cpu, 90.0)]
        return self._rows


def doctor(folder: Folder, options: argparse.Namespace) -> Iterator[Row]:
    """Everything compiled from nothing."""
    yield from folder.doctor()


def quality(folder: Folder, options: argparse.Namespace) -> Iterator[Row]:
    """A user's first solve beside one with everything compiled."""
    for number, (name, problem) in enumerate(problems().items()):
        file = folder.path / f"quality{number}.cfn"
        write(problem, file)
        for seconds, most in WORSE.items():
            words = ("solve", str(file), "--time", str(seconds), "--json", "--quiet")
            wall, _, cold = _command(folder.cold(), *words)
            warm = _command(folder.warm(), *words)[2]
            costs = [json.loads(text)["cost"] for text in (cold, warm)]
            worse = np.inf if None in costs else (costs[0] - costs[1]) / max(abs(costs[1]), 1e-9)
            yield Row(f"{name}, --time {seconds}, empty cache: wall clock", wall, seconds + LATE_SOLVE)
            yield Row(f"{name}, --time {seconds}, empty cache: above the warm answer", 100 * worse, 100 * most, "%")


def limits(folder: Folder, options: argparse.Namespace) -> Iterator[Row]:
    """How late calls with an empty cache return; the worst of ten problems for each limit."""
    files = []
    for number, problem in enumerate([*problems().values(), *(_small(seed) for seed in range(6))]):
        files.append(folder.path / f"limits{number}.cfn")
        write(problem, files[-1])
    for seconds in (1.0, 3.0, 10.0):
        late = []
        for file, solver in zip(files, SOLVERS, strict=True):
            environment = {**os.environ, "DABP_CACHE_DIR": str(folder.cold())}
            command = [sys.executable, "-c", _TIMED, str(file), solver, str(seconds)]
            done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
            late.append(json.loads(done.stdout)[0] - seconds)
        yield Row(f"time_limit={seconds:g}, empty cache: latest of {len(late)}", max(late), LATE_PYTHON)


def _small(seed: int) -> Problem:
    family = ("random-cop", "scale-free", "small-world")[seed % 3]
    return generate(family, variables=60 + 10 * seed, domain=6 + 2 * seed, seed=seed)


def startup(folder: Folder, options: argparse.Namespace) -> Iterator[Row]:
    """Commands that have next to nothing to do, with everything compiled; medians of five."""
    file = folder.path / "small.cfn"
    write(generate("random-cop", variables=10, domain=3, density=0.4, seed=0), file)
    for name, words, most in (
        ("dabp solve of 10 variables", ("solve", str(file), "--quiet"), 1.0),
        ("dabp doctor", ("doctor",), 2.0),
    ):
        walls = [_command(folder.warm(), *words)[0] for _ in range(6)][1:]
        yield Row(f"{name}, all compiled: wall clock, median of 5", statistics.median(walls), most)


def interrupts(folder: Folder, options: argparse.Namespace) -> Iterator[Row]:
    """How many of the interrupted notebooks did something else than answer, or end their cell."""
    yield Row(f"interrupted notebooks of {options.count} that died", interrupted_kernels(options), 0, "")


COMMANDS = {"doctor": doctor, "quality": quality, "limits": limits, "startup": startup, "interrupts": interrupts}


def _record(rows: list[Row]) -> None:
    """Put rows in the place of older ones of their name, or at the end."""
    kept = {row["what"]: row for row in map(json.loads, RECORD.read_text(encoding="utf-8").splitlines())}
    kept |= {row.what: asdict(row) for row in rows}
    RECORD.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in kept.values()), encoding="utf-8")


def main() -> None:
    """Run the measurements, and tell at the end which hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commands", nargs="*", metavar="COMMAND", help=f"only these of {', '.join(COMMANDS)}")
    parser.add_argument("--record", action="store_true", help="keep the figures, in place of older ones")
    parser.add_argument("--count", type=int, default=20, help="notebooks to interrupt")
    parser.add_argument("--seed", type=int, default=0, help="of the moments of interruption")
    options = parser.parse_args()
    if unknown := set(options.commands) - set(COMMANDS):
        parser.error(f"there is no {', '.join(unknown)}")
    rows = []
    with tempfile.TemporaryDirectory(prefix="dabp-first-use-") as place:
        folder = Folder(Path(place))
        for command in options.commands or COMMANDS:
            for row in COMMANDS[command](folder, options):
                print(row.line(), flush=True)
                rows.append(row)
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    print(f"\nload average at the end {load:.1f}; {sum(not row.holds for row in rows)} of {len(rows)} bars missed")
    for row in rows:
        print(row.line())
    if options.record:
        _record(rows)
    sys.exit(0 if all(row.holds for row in rows) else 1)


if __name__ == "__main__":
    main()
