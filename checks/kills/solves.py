"""A solve with a checkpoint, ended again and again: the chain of its parts ends where an undisturbed solve ends."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dabp
from checks.kills.process import PATIENCE, Process
from dabp.errors import CheckpointError
from dabp.solvers import make_solver

SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
SECONDS = 3.0
"""About what an undisturbed solve takes."""
WITHOUT_PROMISE = ("auto",)
"""Solvers whose course depends on the clock: nothing known is lost, but a resumed run need not be the same."""
EXPECTED = {"problem.xml", "state", "state.previous", "answer.json", "stdout", "stderr", "temporary"}
"""Files that a solve may leave."""
FLIPS = 20


def command(solver: str, iterations: int | None, seconds: float, checkpoint: bool, resume: bool) -> list[str]:
    """What a user would type."""
    words = [sys.executable, "-m", "checks.kills.child", "solve", "problem.xml", "--solver", solver, "--json"]
    words += ["--time", str(seconds), "--output", "answer.json", "--seed", "1", "--no-presolve", "--threads", "1"]
    words += ["--iterations", str(iterations)] if iterations is not None else []
    words += ["--checkpoint", "state"] if checkpoint else []
    return words + (["--resume"] if resume else [])


def chain(solver: str, kills: int, rng: random.Random) -> Iterator[str]:
    """End a solve `kills` times, resume it each time; what is wrong, in words."""
    saved = type(make_solver(solver)).checkpoints
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        problem = dabp.generate("random-cop", variables=40, domain=8, density=0.3, seed=1)
        dabp.write(problem, folder / "problem.xml")
        calm, start = _calm(solver, folder, saved)
        best = None
        for _ in range(kills):
            resume = saved and (folder / "state").exists()
            words = command(solver, calm["iterations"] if saved else None, 60.0, saved, resume)
            before = {path.name for path in folder.iterdir()}
            process = Process(words, folder)
            number = rng.choice(SIGNALS)
            hit = process.strike(number, rng.uniform(0.0, start + SECONDS))
            code, out, err = process.ended()
            for wrong in _aftermath(process, folder, number if hit else None, code, out, err, problem, before):
                yield f"{solver}, {number.name}: {wrong}"
            if out.strip().startswith("{"):
                cost = json.loads(out)["cost"]
                if saved and resume and best is not None and cost is not None and cost > best:
                    yield f"{solver}, {number.name}: {cost} after {best} was known"
                best = cost if cost is not None else best
                if code == 0 and json.loads(out)["status"] != "INTERRUPTED":
                    for path in ("state", "state.previous"):
                        (folder / path).unlink(missing_ok=True)
                    best = None
        if saved:
            yield from _last(solver, folder, calm)
            yield from _flipped(solver, folder, problem, rng)


def _calm(solver: str, folder: Path, saved: bool) -> tuple[dict[str, Any], float]:
    """An undisturbed solve of about `SECONDS`, by iterations where it can be saved; and how long it takes to start."""
    begun = time.monotonic()
    Process(command(solver, None, SECONDS, False, False), folder).ended(600)
    first = json.loads((folder / "stdout").read_text())
    start = max(0.0, time.monotonic() - begun - SECONDS)
    if saved:
        Process(command(solver, first["iterations"], 600.0, False, False), folder).ended(900)
        first = json.loads((folder / "stdout").read_text())
    return first, start


def _aftermath(
    process: Process,
    folder: Path,
    number: signal.Signals | None,
    code: int | None,
    out: str,
    err: str,
    problem: Any,
    before: set[str],
) -> Iterator[str]:
    """What an end by a signal (None: by itself) must leave, and must not; `before` are the files that were there."""
    for survivor in process.survivors():
        yield f"a child process lives on: {survivor}"
    if code is None:
        yield f"still running {PATIENCE:.0f} s after it"
    if number is signal.SIGKILL:
        return  # what it was writing may lie about; the next run clears it, which is looked at then
    if "Traceback" in err and f"{os.sep}dabp{os.sep}" in err:  # not one of Python itself, before it has come to us
        yield f"a traceback: {' '.join(err.split())[-300:]}"
    left = {path.name for path in folder.iterdir()} - EXPECTED
    if not out.strip():
        left -= before  # of one that was killed: this one was ended before it came to clear them
    if left:
        yield f"files left: {sorted(left)}"
    if any(process.temporary.iterdir()):
        yield f"temporary files left: {sorted(path.name for path in process.temporary.iterdir())}"
    if code == 0 and not out.strip():
        yield "exit code 0 without an answer"
    if out.strip():
        told = json.loads(out)
        if told["assignment"] is not None and problem.cost(told["assignment"]) != told["cost"]:
            yield f"cost {told['cost']} is not that of the assignment"
        answer = folder / "answer.json"
        if answer.exists() and json.loads(answer.read_text())["cost"] != told["cost"]:
            yield "the file has another answer than was printed"


def _last(solver: str, folder: Path, calm: dict[str, Any]) -> Iterator[str]:
    """Let the chain end, and compare with the undisturbed solve."""
    words = command(solver, calm["iterations"], 600.0, True, (folder / "state").exists())
    code, out, err = Process(words, folder).ended(900)
    if code != 0:
        yield f"{solver}: the last part ended with {code}: {err[-200:]}"
        return
    told = json.loads(out)
    if solver in WITHOUT_PROMISE:
        return
    for key in ("cost", "assignment", "iterations", "status"):
        if told[key] != calm[key]:
            yield f"{solver}: {key} is not that of an undisturbed solve: {told[key]!r:.60}, {calm[key]!r:.60}"


def _flipped(solver: str, folder: Path, problem: Any, rng: random.Random) -> Iterator[str]:
    """A byte changed anywhere in a checkpoint: refused in a sentence, or the generation before is used."""
    state = folder / "state"
    if not state.exists():
        return  # it ended before the first moment at which it can be saved
    whole = state.read_bytes()
    (folder / "state.previous").unlink(missing_ok=True)
    for _ in range(FLIPS):
        place = rng.randrange(len(whole))
        state.write_bytes(whole[:place] + bytes([whole[place] ^ (1 << rng.randrange(8))]) + whole[place + 1 :])
        try:
            dabp.solve(problem, solver, seed=1, presolve=False, max_iterations=1, checkpoint=state, resume=True)
        except CheckpointError:
            continue
        except Exception as error:
            yield f"{solver}: byte {place} of a checkpoint flipped: {type(error).__name__}: {error}"
        else:
            yield f"{solver}: byte {place} of a checkpoint flipped, and nobody noticed"
