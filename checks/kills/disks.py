"""Disks that are full or read-only, and two processes on one checkpoint: the answer is never the price."""

from __future__ import annotations

import contextlib
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dabp
from checks.kills.process import Process

SPACES = (0, 1, 4, 8, 16, 24, 32, 64)
"""Kilobytes that are left on the disk."""
SIZE = 512
"""Kilobytes of the disk."""


@contextlib.contextmanager
def small_disk(folder: Path) -> Iterator[Path | None]:
    """A disk of its own, mounted below a folder; None where that is not allowed."""
    place = folder / "disk"
    place.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}k", "tmpfs", str(place)]
    if sys.platform != "linux" or subprocess.run(command, capture_output=True, check=False).returncode != 0:
        yield None
        return
    try:
        yield place
    finally:
        subprocess.run(["umount", "--lazy", str(place)], check=False)


def chain(tries: int, rng: random.Random) -> Iterator[str]:
    """So many solves on a disk with little space, then one that cannot be written to; what is wrong, in words."""
    with tempfile.TemporaryDirectory() as name, small_disk(Path(name)) as disk:
        folder = Path(name)
        problem = dabp.generate("random-cop", variables=40, domain=8, density=0.3, seed=1)
        dabp.write(problem, folder / "problem.xml")
        yield from _two_at_once(folder, problem)
        if disk is None:
            yield "disks: not tried, mounting needs more rights"
            return
        for _ in range(tries):
            yield from _full(folder, disk, problem, rng.choice(SPACES), rng.choice(("tabu", "dbp", "dabp", "auto")))
        yield from _read_only(folder, disk)


def _words(solver: str, place: str, seconds: float, *more: str) -> list[str]:
    words = [sys.executable, "-m", "checks.kills.child", "solve", "problem.xml", "--solver", solver, "--json"]
    words += ["--time", str(seconds), "--seed", "1", "--threads", "1", "--output", f"{place}answer.json"]
    return [*words, "--checkpoint", f"{place}state", *more]


def _full(folder: Path, disk: Path, problem: Any, left: int, solver: str) -> Iterator[str]:
    """The answer is printed, and what is on the disk afterwards is whole."""
    for path in disk.iterdir():
        path.unlink()
    who = f"{solver} with {left} kB left on the disk"
    (disk / "filling").write_bytes(bytes(1024 * (SIZE - left)))
    (disk / "answer.json").unlink(missing_ok=True)
    code, out, err = Process(_words(solver, "disk/", 2.0, "--trace", "disk/trace.jsonl"), folder).ended(120)
    if "Traceback" in err:
        yield f"{who}: a traceback: {err.splitlines()[-1]}"
    refused = not out.strip()
    if refused and (code in (0, None) or "disk/" not in err):
        yield f"{who}: no answer, exit code {code}: {err[-200:]}"
    if not refused:
        told = json.loads(out)
        if problem.cost(told["assignment"]) != told["cost"]:
            yield f"{who}: cost {told['cost']} is not that of the assignment"
        answer = disk / "answer.json"
        if code == 0 and not answer.exists():
            yield f"{who}: exit code 0 without the file"
        if answer.exists() and json.loads(answer.read_text() or "{}").get("cost") != told["cost"]:
            yield f"{who}: the file has another answer than was printed"
        trace = disk / "trace.jsonl"
        if trace.exists() and not all(json.loads(line) for line in trace.read_text().splitlines()):
            yield f"{who}: half a trace"
    left_over = {path.name for path in disk.iterdir()} - {
        *("filling", "answer.json", "trace.jsonl", "state", "state.previous")
    }
    if left_over:
        yield f"{who}: files left: {sorted(left_over)}"
    (disk / "filling").unlink()
    if (disk / "state").exists():
        code, out, err = Process(_words(solver, "disk/", 1.0, "--resume"), folder).ended(120)
        if code != 0:
            yield f"{who}: its checkpoint cannot be continued: {err[-200:]}"


def _read_only(folder: Path, disk: Path) -> Iterator[str]:
    """Refused in a sentence before anything is solved."""
    for path in disk.iterdir():
        path.unlink()
    subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
    begun = time.monotonic()
    code, out, err = Process(_words("tabu", "disk/", 60.0), folder).ended(120)
    if code != 2 or out.strip() or "Traceback" in err or "disk/" not in err or len(err.strip().splitlines()) > 2:
        yield f"read-only folder: exit code {code}: {err[-200:]}"
    if time.monotonic() - begun > 50:
        yield "read-only folder: solved first, then refused"


def _two_at_once(folder: Path, problem: Any) -> Iterator[str]:
    """The second on a checkpoint is refused, the first is not disturbed by it."""
    first = Process(_words("tabu", "", 300.0), folder)
    deadline = time.monotonic() + 60
    while not (folder / "state.lock").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    for more in ([], ["--resume"]):
        other = [word.replace("answer", "other") for word in _words("tabu", "", 1.0, *more)]
        with tempfile.TemporaryFile("w+", encoding="utf-8") as err:
            code = subprocess.run(other, cwd=folder, stdout=err, stderr=err, check=False).returncode
            err.seek(0)
            said = err.read()
        if code != 2 or "another solve" not in said:
            yield f"two on one checkpoint: the second ended with {code}: {said[-200:]}"
    first.strike(signal.SIGINT, 0.0)
    code, out, err_text = first.ended()
    if code != 0 or problem.cost(problem.names.assignment(json.loads(out)["assignment"])) != json.loads(out)["cost"]:
        yield f"two on one checkpoint: the first ended with {code}: {err_text[-200:]}"
    code, _, err_text = Process(_words("tabu", "", 1.0, "--resume"), folder).ended(120)
    if code != 0:
        yield f"two on one checkpoint: it cannot be continued: {err_text[-200:]}"
