"""A gigabyte of ``.uai``, ``.wcsp`` and ``.cfn``: time and memory of reading, beside toulbar2's.

The files have 200,000 variables and a table of random costs on each of as many random pairs as fill them; they are
written to a temporary folder (``TMPDIR`` says where) and go with the process.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from benchmarks.scale.records import peak_gigabytes

VARIABLES, DOMAIN = 200_000, 10
CELLS = DOMAIN * DOMAIN
SHARED = {"uai": 1.0, "wcsp": 1.0, "cfn": 0.02}
"""Gigabytes of the largest file that toulbar2 reads, too: of 1 GB of ``.cfn`` it would read for an hour."""
CHUNK = 10_000
"""Tables that are written at a time."""

READERS = {
    "dabp": "problem = dabp.read(path); size = sum(a.nbytes for a in vars(problem).values() if hasattr(a, 'nbytes'))",
    "toulbar2": "problem = pytoulbar2.CFN(); problem.Read(path); size = 0",
}
MEASURE = """
import json, re, sys, time
path = sys.argv[1]
import dabp, dabp.formats, pytoulbar2
def most():  # of this program alone: what getrusage says may be the parent's
    return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1])
base = most()
wall, cpu = time.perf_counter(), time.process_time()
{reader}
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
peak = most()
print()
row = dict(wall=round(wall, 2), cpu=round(cpu, 2), peak=round((peak - base) / 2**20, 2), final=round(size / 2**30, 2))
print(json.dumps(row))
"""


def measurements() -> Iterator[dict[str, Any]]:
    """Each format, by both readers in the same run."""
    for suffix in ("uai", "wcsp", "cfn"):
        yield {"format": suffix, "gigabytes": 1.0}


def measured(format: str, gigabytes: float) -> dict[str, Any]:
    """Write the file and read it by both, each in a process of its own."""
    shared = min(gigabytes, SHARED[format])
    row = _written_and_read(format, gigabytes, list(READERS) if shared == gigabytes else ["dabp"])
    if shared < gigabytes:
        row["smaller"] = _written_and_read(format, shared, list(READERS))
    row["here"] = round(peak_gigabytes(), 2)
    return row


def _written_and_read(format: str, gigabytes: float, readers: list[str]) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"large.{format}"
        started = time.perf_counter()
        with path.open("wb") as stream:
            WRITERS[format](stream, int(gigabytes * 2**30))
        row: dict[str, Any] = {"bytes": path.stat().st_size, "written": round(time.perf_counter() - started, 1)}
        for name in readers:
            row[name] = _read(path, READERS[name])
    return row


def _read(path: Path, reader: str) -> Any:
    program = MEASURE.format(reader=reader)
    done = subprocess.run([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE, text=True, check=False)
    return json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else f"failed with {done.returncode}"


def _pairs(count: int) -> np.ndarray:
    """Random pairs [count, 2], no variable with itself."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, VARIABLES, size=count)
    return np.stack([first, (first + rng.integers(1, VARIABLES, size=count)) % VARIABLES], axis=1)


def _tables(count: int, before: bytes, digits: int) -> Iterator[bytes]:
    """A line of `CELLS` random numbers a table: `before`, then digits, a space between two."""
    rng, width = np.random.default_rng(1), len(before) + digits + 1
    for start in range(0, count, CHUNK):
        rows = min(CHUNK, count - start)
        text = np.full((rows, CELLS, width), ord(" "), dtype=np.uint8)
        text[:, :, : len(before)] = np.frombuffer(before, dtype=np.uint8)
        text[:, :, len(before) : -1] = rng.integers(ord("1"), ord("9") + 1, size=(rows, CELLS, digits))
        lines = text.reshape(rows, CELLS * width).tobytes()
        yield from (lines[k * CELLS * width : (k + 1) * CELLS * width] for k in range(rows))


def _write_uai(stream: BinaryIO, size: int) -> None:
    count = size // (9 * CELLS + 20)
    stream.write(f"MARKOV\n{VARIABLES}\n{' '.join([str(DOMAIN)] * VARIABLES)}\n{count}\n".encode())
    stream.writelines(b"2 %d %d\n" % (i, j) for i, j in _pairs(count).tolist())
    stream.writelines(b"%d\n%s\n" % (CELLS, line) for line in _tables(count, b"0.", 6))


def _write_wcsp(stream: BinaryIO, size: int) -> None:
    tuples = [b"%d %d " % (a, b) for a in range(DOMAIN) for b in range(DOMAIN)]
    count = size // (CELLS * (4 + 6) + 20)
    stream.write(
        f"large {VARIABLES} {DOMAIN} {count} 1000000000000000\n{' '.join([str(DOMAIN)] * VARIABLES)}\n".encode()
    )
    for (i, j), line in zip(_pairs(count).tolist(), _tables(count, b"", 5), strict=True):
        costs = line.split()
        rows = b"\n".join(place + cost for place, cost in zip(tuples, costs, strict=True))
        stream.write(b"2 %d %d 0 %d\n%s\n" % (i, j, CELLS, rows))


def _write_cfn(stream: BinaryIO, size: int) -> None:
    count = size // (8 * CELLS + 60)
    stream.write(b'{"problem": {"name": "large", "mustbe": "<1000000000000000"},\n"variables": {')
    stream.write(b",\n".join(b'"v%d": %d' % (i, DOMAIN) for i in range(VARIABLES)) + b'},\n"functions": {')
    lines = _tables(count, b"", 5)
    for number, ((i, j), line) in enumerate(zip(_pairs(count).tolist(), lines, strict=True)):
        costs = b", ".join(line.split())
        stream.write(b",\n" if number else b"\n")
        stream.write(b'"f%d": {"scope": ["v%d", "v%d"], "costs": [%s]}' % (number, i, j, costs))
    stream.write(b"}}\n")


WRITERS = {"uai": _write_uai, "wcsp": _write_wcsp, "cfn": _write_cfn}
