"""Files that are no text, or that we wrote ourselves, for the fuzzer: checkpoints, plans, results, traces, HDF5.

A checkpoint and a model in HDF5 are changed inside, entry by entry, and written anew: blind changes never get past a
checksum or a library of others, though some of those are made, too.
"""

from __future__ import annotations

import atexit
import io
import json
import random
import re
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import IO, Any

import h5py
import numpy as np

import dabp
from dabp.cli.plot import load_trace as read_trace
from dabp.driver.checkpoint import file
from dabp.driver.checkpoint.contents import identity
from dabp.lab.experiments.execution import execute
from dabp.lab.experiments.experiment_plan import load_plan
from dabp.lab.experiments.result_schema import fitting, lines_of, row_of
from dabp.lab.experiments.store import read_record, read_summary
from dabp.problem import Problem
from dabp.solvers import make_solver

SOLVERS = ("dbp", "tabu", "annealing", "neighbourhood", "dual", "expansion")
_ROOT = Path(__file__).parents[2]
_KEY = "0123456789abcdef0123456789abcdef01234567"
_MEASURED = {"cpu": 0.1, "wall": 0.2, "peak_memory": 100_000_000}
_PLAN = b"""
[limits]
iterations = 20
[[instances]]
family = "random-cop"
seeds = 2
parameters = { variables = 5, domain = 3, density = 0.5 }
[[solvers]]
solver = "tabu"
[[solvers]]
solver = "dbp"
parameters = { restarts = 3 }
"""
_FOLDER = tempfile.TemporaryDirectory(prefix="dabp-fuzz-")
atexit.register(_FOLDER.cleanup)


def _at(name: str, data: bytes) -> Path:
    """The bytes as a file, since these readers take no streams."""
    path = Path(_FOLDER.name) / name
    path.write_bytes(data)
    return path


def _result(stream: IO[bytes]) -> None:
    path = _at(f"{_KEY}.jsonl", stream.read())
    read_summary(path)
    with open(path, "rb") as lines:
        for line, row in lines_of(lines, path):
            if line > 1:
                fitting(row_of, row, path, line)


def _resumed(stream: IO[bytes]) -> None:
    """Continue from a checkpoint, whatever solver it says it is of; an answer must be one."""
    path, problem = _at("state", stream.read()), resumable()
    file.previous(path).unlink(missing_ok=True)
    for name in SOLVERS:
        if f"{type(make_solver(name)).__name__}(".encode() in path.read_bytes()[:4096]:
            break
    result = dabp.solve(problem, name, checkpoint=path, resume=True, max_iterations=12, seed=3, time_limit=10)
    if result.assignment is None or result.cost != problem.cost(result.assignment):
        raise AssertionError("the answer from a checkpoint is none")


READERS: dict[str, Callable[[IO[bytes]], Any]] = {
    "plan": lambda stream: load_plan(_at("plan.toml", stream.read())),
    "plan record": lambda stream: read_record(_at("small.json", stream.read())),
    "result": _result,
    "trace": lambda stream: read_trace(_at("trace.jsonl", stream.read())),
    "checkpoint": _resumed,
}
"""Name → what reads such files."""


def texts() -> list[tuple[str, bytes]]:
    """Good ones of those that are text."""
    plans = [path.read_bytes() for path in sorted((_ROOT / "paper").rglob("*.toml"))[:6]]
    plans = [re.sub(rb"(seeds|repetitions) = \d+", rb"\1 = 2", plan) for plan in plans]  # thousands of runs take long
    plans.append((_ROOT / "examples" / "experiment.toml").read_bytes())
    found = [("plan", plan) for plan in plans]
    plan = load_plan(_at("small.toml", plans[-1])).to_dict()
    plan["runs"] = plan["runs"][:3]
    environment = {"started": "2026-01-01T00:00:00+00:00", "versions": {}, "machine": {}, "command": ["dabp"]}
    found.append(("plan record", json.dumps({**plan, "name": "small", "environment": environment}).encode()))
    for seed, name in enumerate(("tabu", "dabp", "bp-reinforced", "dual")):
        result = dabp.solve(resumable(), name, max_iterations=40, seed=seed)
        found.append(("trace", "\n".join(result.trace.to_lines()).encode()))
    for run in load_plan(_at("small.toml", _PLAN)).runs:
        (summary, *rows), *_ = execute(run)
        lines = [{**summary, "key": _KEY, **_MEASURED}, *rows]
        found.append(("result", "\n".join(map(json.dumps, lines)).encode()))
    return found


@cache
def resumable() -> Problem:
    """What the checkpoints are of."""
    return dabp.generate("random-cop", variables=8, domain=3, density=0.6, seed=2)


@cache
def _contents(name: str) -> dict[str, Any]:
    """The checkpoint of a solver after some iterations."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        dabp.solve(resumable(), name, checkpoint=path, max_iterations=6, seed=3)
        return file.load(path, _origin(name), lambda _: None)[0]


def _origin(name: str) -> file.Origin:
    return file.Origin(identity(resumable(), None), f"{make_solver(name)!r} seed 3")


def checkpoint(rng: random.Random) -> bytes:
    """One with some entries of another solver's, changed, or missing; its checksum is right."""
    name, other = rng.choice(SOLVERS), rng.choice(SOLVERS)
    contents, theirs = dict(_contents(name)), _contents(other)
    for _ in range(rng.choice([1, 1, 2, 4])):
        key = rng.choice(list(contents))
        match rng.randrange(4):
            case 0:
                del contents[key]
            case 1:
                contents[key] = theirs.get(key, theirs[rng.choice(list(theirs))])
            case _:
                contents[key] = _changed(rng, contents[key])
        if not contents:
            break
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "state"
        file.save(path, contents, _origin(name))
        data = path.read_bytes()
    if rng.random() < 0.1:
        place = rng.randrange(len(data))
        data = data[:place] + bytes([rng.randrange(256)]) + data[place + 1 :]
    return data


def _changed(rng: random.Random, value: Any) -> Any:
    """Of the same kind, or not quite."""
    if not isinstance(value, np.ndarray):
        return rng.choice([value, None, -1, 0, 2**40, 1e300, "x", [1, "y"], {"state": 1}, True])
    array = value.copy()
    if not array.size or rng.random() < 0.2:
        with np.errstate(over="ignore"):
            narrow = array.astype(np.float32)
        return rng.choice([array[:0], narrow, np.zeros(3), array[None], np.zeros((2, 8), np.int64)])
    flat = array.reshape(-1)
    for _ in range(rng.choice([1, 1, 5])):
        wild = [-1, 0, 1, 2, 7, 100] if array.dtype.kind in "iub" else [-1.0, 0.5, np.nan, np.inf, 1e300]
        if array.dtype.kind == "i":
            wild += [int(np.iinfo(array.dtype).max), int(np.iinfo(array.dtype).min)]
        if array.dtype.kind in "ub":
            wild = [0, 1]
        with np.errstate(all="ignore"):
            flat[rng.randrange(len(flat))] = np.asarray(rng.choice(wild)).astype(array.dtype)
    return array


def opengm(rng: random.Random) -> bytes:
    """A model of one explicit and one Potts function, with datasets changed, cut or gone."""
    sets: dict[str, Any] = {
        "header": np.array([2, 2, 2, 3, 2, 16000, 1, 16006, 1, 0]),
        "numbers-of-states": np.array([3, 3]),
        "function-id-16000/indices": np.array([1, 3]),
        "function-id-16000/values": np.array([0.5, 1.0, 2.0]),
        "function-id-16006/indices": np.array([3, 3]),
        "function-id-16006/values": np.array([0.0, 4.0]),
        "factors": np.array([0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 2, 0, 1]),
    }
    for _ in range(rng.choice([0, 1, 1, 2, 3])):
        key = rng.choice(list(sets))
        match rng.randrange(4):
            case 0:
                del sets[key]
            case 1:
                sets[key] = sets[key][: rng.randrange(len(sets[key]) + 1)]
            case _:
                sets[key] = _changed(rng, sets[key])
        if not sets:
            break
    stream = io.BytesIO()
    with h5py.File(stream, "w") as model:
        group = model.create_group("gm")
        for key, value in sets.items():
            group[key] = np.zeros(0) if value is None else value
    return stream.getvalue()
