"""How fast and how lean files are read.

``python -m benchmarks.reading growth`` reads every kind of hostile file of the tests, which cover every reader, at
doubling sizes, and prints CPU seconds and the exponent of their growth: 1 is linear, 2 quadratic.
``python -m benchmarks.reading memory`` reads an honest file of every format, at half the size and at the whole, each
in a process of its own, and prints how much memory that takes beyond what was held before, in sizes of the file.
``python -m benchmarks.reading`` reads a large ``.wcsp`` file against toulbar2 reading it in the same run: it writes
files of about 50 MB into a temporary folder, lets each reader read each of them in a process of its own, in turns, and
prints medians of CPU seconds (which a busy machine stretches least), their ratios and the peak memory of the processes.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from tests.formats.hostile import HOSTILE

from benchmarks.reading_files import TYPICAL
from dabp.errors import FormatError
from dabp.formats import read

_OURS = """
import json, resource, sys, time
from dabp.formats import read
start = time.process_time()
problem = read(sys.argv[1])
seconds = time.process_time() - start
print(json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]))
"""
_MEMORY = """
import json, sys, time
from dabp.formats import FORMATS, read
FORMATS[sys.argv[2]].load()

def held(what):
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith(what))

before, start = held("VmRSS"), time.process_time()
problem = read(sys.argv[1], sys.argv[2], max_cells=2**30, max_bytes=2**30)
print(json.dumps([time.process_time() - start, held("VmHWM") - before]))
"""
_TOULBAR2 = """
import json, os, resource, sys, time
import pytoulbar2
out = os.dup(1)
os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
network = pytoulbar2.CFN(verbose=-1)
start = time.process_time()
network.Read(sys.argv[1])
seconds = time.process_time() - start
os.write(out, json.dumps([seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024]).encode())
os._exit(0)
"""


def _functions(arity: int, domain: int, tuples: int, megabytes: float) -> Iterator[str]:
    """Random functions of one shape until so many bytes are written; the first line is left to the caller."""
    rng = np.random.default_rng(0)
    size = 0
    while size < megabytes * 1e6:
        scope = " ".join(map(str, rng.permutation(300)[:arity]))
        cells = rng.permutation(domain**arity)[:tuples]
        rows = np.column_stack([*np.unravel_index(cells, (domain,) * arity), rng.integers(0, 10**6, tuples)])
        text = (
            f"{arity} {scope} 1000000 {tuples}\n" + "\n".join(" ".join(map(str, row)) for row in rows.tolist()) + "\n"
        )
        size += len(text)
        yield text


def _write(path: Path, arity: int, domain: int, tuples: int, megabytes: float) -> int:
    functions = list(_functions(arity, domain, tuples, megabytes))
    with path.open("w", encoding="utf-8") as stream:
        stream.write(f"large 300 {domain} {len(functions)} 1000000000000\n{' '.join([str(domain)] * 300)}\n")
        stream.writelines(functions)
    return tuples * len(functions)


def memories(megabytes: float, chosen: str) -> None:
    """Print CPU seconds and memory in sizes of the file, for an honest file of every format at two sizes."""
    print("| file | MB | CPU s | memory / file | MB | CPU s | memory / file |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for name, (format, make) in TYPICAL.items():
        if chosen not in name:
            continue
        cells = []
        for size in (megabytes / 2, megabytes):
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "file"
                path.write_text(make(int(size * 1e6)))
                seconds, peak = _measured(_MEMORY, path, format)
                length = path.stat().st_size
                cells += [f"{length / 1e6:.1f}", f"{seconds:.2f}", f"{peak / length:.1f}"]
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


def _measured(program: str, path: Path, *arguments: str) -> tuple[float, float]:
    command = [sys.executable, "-c", program, str(path), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    seconds, memory = json.loads(run.stdout)
    return seconds, memory


def growth(largest: int, doublings: int, chosen: str) -> None:
    """Print CPU seconds of every kind of hostile file at doubling sizes, and the exponent of the growth."""
    sizes = [largest >> k for k in reversed(range(doublings + 1))]
    print("| file | " + " | ".join(f"{size / 1000:.0f} kB, s" for size in sizes) + " | exponent |")
    print("| --- |" + " --- |" * (len(sizes) + 1))
    for name, kind in HOSTILE.items():
        if chosen not in name:
            continue
        seconds = [_seconds(kind.make(size), kind.format) for size in sizes]
        half = len(sizes) // 2  # of the larger ones, as small files take the same time whatever their size
        slope = np.polyfit(np.log(sizes[half:]), np.log(seconds[half:]), 1)[0]
        exponent = f"{slope:.2f}" if seconds[-1] > 0.02 else "too quick to tell"
        print(f"| {name} | " + " | ".join(f"{one:.3f}" for one in seconds) + f" | {exponent} |", flush=True)


def _seconds(text: str, format: str) -> float:
    """The least CPU time of three readings, refused or not."""
    data, times = text.encode(), []
    for _ in range(3):
        start = time.process_time()
        with contextlib.suppress(FormatError):
            read(io.BytesIO(data), format)
        times.append(time.process_time() - start)
    return max(min(times), 1e-6)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=["toulbar2", "growth", "memory"], default="toulbar2")
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--largest", type=int, default=1_600_000, help="bytes of the largest file of growth")
    parser.add_argument("--doublings", type=int, default=4)
    parser.add_argument("--only", default="", help="kinds of hostile files that have this in their name")
    options = parser.parse_args()
    if options.what == "growth":
        growth(options.largest, options.doublings, options.only)
        return
    if options.what == "memory":
        memories(options.megabytes, options.only)
        return
    print("| file | tuples | MB | ours, CPU s | toulbar2, CPU s | ratio | our memory / file | toulbar2's |")
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name, arity, domain, tuples in (
        ("dense binary, domain 30", 2, 30, 900),
        ("dense binary, domain 5", 2, 5, 25),
        ("sparse, arity 5, domain 4", 5, 4, 200),
    ):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "large.wcsp"
            count = _write(path, arity, domain, tuples, options.megabytes)
            ours, peer = [], []
            for _ in range(options.repeats):
                ours.append(_measured(_OURS, path))
                peer.append(_measured(_TOULBAR2, path))
            size = path.stat().st_size
            seconds, other = (statistics.median(one for one, _ in runs) for runs in (ours, peer))
            memory, other_memory = (max(one for _, one in runs) / size for runs in (ours, peer))
            print(
                f"| {name} | {count:,} | {size / 1e6:.0f} | {seconds:.2f} | {other:.2f} | {seconds / other:.2f} | "
                f"{memory:.1f} | {other_memory:.1f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
