"""Functions that .wcsp files state by keyword: the toulbar2 package on the file, and ours on the same file.

``python -m benchmarks.exact functions`` prints a row per file: cost, CPU seconds and peak memory of whole processes
with their children. Bids are cliques, seats all different; jobs have a start out of hundreds of values and follow
each other, must not overlap at a price, or may be left out.
"""

from __future__ import annotations

import itertools
import json
import resource
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil

PACKAGE = """
import sys, pytoulbar2
network = pytoulbar2.CFN()
network.Read(sys.argv[1])
network.CFN.timer(int(sys.argv[2]))
found = network.Solve()
print("-" if found is None else int(found[1]), "LIMIT" if network.Option.limited else "OPTIMAL")
"""

OURS = [sys.executable, "-c", "from dabp.cli import main; main()", "solve"]


def _file(sizes: list[int], functions: list[str], top: int) -> str:
    head = f"functions {len(sizes)} {max(sizes)} {len(functions)} {top}\n{' '.join(map(str, sizes))}\n"
    return head + "\n".join(functions) + "\n"


def _costs(variable: int, costs: list[int]) -> str:
    rows = "\n".join(f"{value} {cost}" for value, cost in enumerate(costs))
    return f"1 {variable} 0 {len(costs)}\n{rows}"


def bids(count: int, seed: int) -> str:
    """Of those who ask for a good one is served: a clique for each good."""
    rng = np.random.default_rng(seed)
    asked = [rng.choice(count // 3, size=rng.integers(2, 7), replace=False).tolist() for _ in range(count)]
    functions = [_costs(bid, [int(rng.integers(1, 101)), 0]) for bid in range(count)]
    for good in range(count // 3):
        who = [bid for bid in range(count) if good in asked[bid]]
        if len(who) > 1:
            functions.append(f"{len(who)} {' '.join(map(str, who))} -1 clique 1 {' '.join(['1 1'] * len(who))}")
    return _file([2] * count, functions, 10**6)


def seats(count: int, seed: int) -> str:
    """All different, each with its own costs: an assignment problem."""
    rng = np.random.default_rng(seed)
    functions = [_costs(v, rng.integers(0, 100, size=count).tolist()) for v in range(count)]
    functions.append(f"{count} {' '.join(map(str, range(count)))} -1 salldiff var {10**6}")
    return _file([count] * count, functions, 10**6)


def jobs(kind: str, count: int, values: int, seed: int) -> str:
    """Starts near wished ones: each job after the three before it, or apart at a price, or apart or left out."""
    rng = np.random.default_rng(seed)
    length = rng.integers(values // (4 * count) + 1, values // count + 2, size=count).tolist()
    wish = rng.integers(0, values - 1, size=count).tolist()
    functions = []
    for job in range(count):
        costs = [abs(value - wish[job]) for value in range(values)]
        if kind == "or-out":
            costs[-1] = int(rng.integers(1, values))
        functions.append(_costs(job, costs))
    for x, y in itertools.combinations(range(count), 2):
        if kind == "after" and y - x <= 3:
            functions.append(f"2 {y} {x} -1 >= {length[x]} 0")
        elif kind == "apart" and y - x <= 3:
            functions.append(f"2 {x} {y} -1 disj {length[x]} {length[y]} {int(rng.integers(1, values // 4))}")
        elif kind == "or-out" and y - x <= 3:
            functions.append(f"2 {x} {y} -1 sdisj {length[x]} {length[y]} {values - 1} {values - 1} 0 0")
    return _file([values] * count, functions, 10**6)


def files() -> Iterator[tuple[str, str]]:
    """Name and text of each file."""
    yield "bids 200", bids(200, 1)
    yield "seats 60", seats(60, 1)
    for kind in ("after", "apart", "or-out"):
        for count, values in ((20, 100), (20, 300), (20, 1000)):
            yield f"jobs {kind} {count} of {values}", jobs(kind, count, values, 1)


def measured(command: list[str]) -> tuple[str, float, float]:
    """What a process prints, CPU seconds and peak megabytes, with its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    peak = 0

    def watch() -> None:
        nonlocal peak
        while process.poll() is None:
            held = 0
            try:
                root = psutil.Process(process.pid)
                held, name = root.memory_info().rss, root.cmdline()
                for each in root.children(recursive=True):
                    if each.cmdline() != name:  # else one that has just been forked and holds the parent's pages
                        held += each.memory_info().rss
            except psutil.Error:
                pass
            peak = max(peak, held)
            time.sleep(0.02)

    watcher = threading.Thread(target=watch)
    watcher.start()
    said, _ = process.communicate()
    watcher.join()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return said, after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, peak / 1e6


def compare(limit: int, only: str | None) -> None:
    """A row for each file and way to solve it."""
    more = ["--json", "--quiet", "--time", str(limit), "--max-cells", "1000000000"]
    ways = {
        "package": [sys.executable, "-c", PACKAGE],
        "toulbar2": [*OURS, "--solver", "toulbar2"],
        "toulbar2, tables": [*OURS, "--solver", "toulbar2", "--param", "closed_forms=false"],
        "auto": OURS,
    }
    print(f"{'file':24} {'way':18} {'cost':>8} {'status':10} {'CPU s':>6} {'MB':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files():
            if only is not None and only not in name:
                continue
            file = Path(folder) / "problem.wcsp"
            file.write_text(text)
            for way, command in ways.items():
                end = [str(file), str(limit)] if way == "package" else [str(file), *more]
                said, seconds, peak = measured([*command, *end])
                cost, status = said.split() if way == "package" and said.split() else ("-", "failed")
                if way != "package" and said:
                    answer = json.loads(said)
                    cost, status = answer["cost"], answer["status"]
                print(f"{name:24} {way:18} {cost!s:>8} {status:10} {seconds:6.1f} {peak:6.0f}", flush=True)
