"""A plan: instances × solvers × repetitions, from a TOML file, expanded to runs that know their own name.

A run's `key` is a hash of everything that decides its outcome (the instance, the solver and its parameters,
the limits, the seed) and of nothing else: labels and the order of the plan may change without running
anything again, and two plans that share a run share its result.
"""

from __future__ import annotations

import glob
import hashlib
import itertools
import json
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dabp.errors import ParameterError

FORMAT = 1
"""Part of every key: a change here means that old results no longer say the same thing."""

UNITS = {"": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "KIB": 2**10, "MIB": 2**20, "GIB": 2**30}


@dataclass(frozen=True)
class Limits:
    """What a run may use.

    `time` and `iterations` are handed to the solver, which stops by itself with its best answer. `wall` and
    `memory` are enforced from outside, by ending the process: that run then counts as failed.
    """

    time: float | None = None
    iterations: int | None = None
    wall: float | None = None
    memory: int | None = None

    @property
    def wall_seconds(self) -> float | None:
        """When the process is ended: `wall`, or if there is only `time`, that and half again and a minute."""
        if self.wall is not None or self.time is None:
            return self.wall
        return 1.5 * self.time + 60.0


@dataclass(frozen=True)
class Run:
    """One (instance, solver, seed), with the labels under which the plan shows it."""

    instance: Mapping[str, Any]
    """{family, parameters, seed} or {file, sha256}."""
    solver: str
    parameters: Mapping[str, Any]
    limits: Limits
    seed: int
    repetition: int
    group: str = ""
    """The instances' label in tables: runs of a group are averaged."""
    series: str = ""
    """The solver's label, without the parameters that its entry sweeps."""
    swept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The solver's label in tables, with swept parameters."""
        return _labelled(self.series, self.swept)

    @cached_property
    def key(self) -> str:
        """40 hexadecimal digits that name the result."""
        identity = {
            "format": FORMAT,
            "instance": _identity(self.instance),
            "solver": self.solver,
            "parameters": dict(self.parameters),
            "limits": asdict(self.limits),
            "seed": self.seed,
            "repetition": self.repetition,
        }
        return _digest(identity)[:40]

    @cached_property
    def instance_key(self) -> str:
        """Names the instance and repetition: what paired comparisons pair by."""
        return _digest({"instance": _identity(self.instance), "repetition": self.repetition})[:16]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a message or a file."""
        return {**asdict(self), "key": self.key}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Run:
        """What `to_dict` gave."""
        fields = {name: value for name, value in data.items() if name != "key"}
        return cls(**{**fields, "limits": Limits(**data["limits"])})


@dataclass(frozen=True)
class Plan:
    """A named list of runs, and the text it was written as."""

    name: str
    title: str
    runs: tuple[Run, ...]
    figures: tuple[str, ...] = ()
    text: str = ""

    @property
    def groups(self) -> list[str]:
        """Labels of the instances, in the order of the plan."""
        return list(dict.fromkeys(run.group for run in self.runs))

    @property
    def labels(self) -> list[str]:
        """Labels of the solvers, in the order of the plan."""
        return list(dict.fromkeys(run.label for run in self.runs))

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for a file."""
        return {
            "name": self.name,
            "title": self.title,
            "figures": list(self.figures),
            "text": self.text,
            "runs": [run.to_dict() for run in self.runs],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """What `to_dict` gave."""
        runs = tuple(Run.from_dict(run) for run in data["runs"])
        return cls(data["name"], data["title"], runs, tuple(data["figures"]), data["text"])


def load_plan(path: str | Path) -> Plan:
    """Read a plan; file instances are found relative to it."""
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"{path}: is not TOML: {error}") from None
    try:
        return _plan(data, text, path)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def run_seed(plan_seed: int, instance: Mapping[str, Any], repetition: int) -> int:
    """The same for every solver, so that they are compared in pairs; never from the number or order of workers."""
    return int(_digest({"plan": plan_seed, "instance": _identity(instance), "repetition": repetition})[:8], 16)


def _plan(data: Mapping[str, Any], text: str, path: Path) -> Plan:
    _known(data, {"name", "title", "seed", "repetitions", "figures", "limits", "instances", "solvers"}, "the plan")
    name = data.get("name", path.stem)
    if not isinstance(name, str) or not re.fullmatch(r"[\w.-]+", name):
        raise ParameterError(f"name is letters, digits, '-', '_' and '.', not {name!r}")
    seed, repetitions = _count(data, "seed", 0), _count(data, "repetitions", 1)
    limits = data.get("limits", {})
    solvers = list(_solvers(data, limits))
    instances = list(_instances(data, path.parent))
    runs = tuple(
        Run(instance, solver, parameters, own, run_seed(seed, instance, repetition), repetition, group, series, swept)
        for group, instance in instances
        for repetition in range(repetitions)
        for solver, parameters, own, series, swept in solvers
    )
    seen: set[tuple[str, str, str]] = set()
    for run in runs:
        place = (run.group, run.label, run.key)
        if place in seen:
            raise ParameterError(f"solver {run.label!r} runs twice on the same instance of {run.group!r}")
        seen.add(place)
    figures = data.get("figures", [])
    if not isinstance(figures, list):
        raise ParameterError(f"figures is a list of names, not {figures!r}")
    return Plan(name, data.get("title", name), runs, tuple(figures), text)


def _solvers(
    data: Mapping[str, Any], limits: Mapping[str, Any]
) -> Iterator[tuple[str, dict[str, Any], Limits, str, dict[str, Any]]]:
    entries = data.get("solvers", [])
    if not entries:
        raise ParameterError("has no [[solvers]]")
    labels: set[str] = set()
    for entry in entries:
        _known(entry, {"solver", "label", "parameters", "sweep", "limits"}, "a [[solvers]] entry")
        if "solver" not in entry:
            raise ParameterError('a [[solvers]] entry needs solver = "name"')
        series = entry.get("label", entry["solver"])
        if series in labels:
            raise ParameterError(f"two [[solvers]] entries are labelled {series!r}: give each a label of its own")
        labels.add(series)
        own = _limits({**limits, **entry.get("limits", {})})
        for swept in _sweep(entry):
            yield entry["solver"], {**entry.get("parameters", {}), **swept}, own, series, swept


def _instances(data: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    entries = data.get("instances", [])
    if not entries:
        raise ParameterError("has no [[instances]]")
    for entry in entries:
        _known(entry, {"family", "files", "label", "parameters", "sweep", "seeds"}, "an [[instances]] entry")
        if ("family" in entry) == ("files" in entry):
            raise ParameterError('an [[instances]] entry has either family = "name" or files = ["pattern"]')
        if "files" in entry:
            yield from _files(entry, folder)
            continue
        seeds = entry.get("seeds", 1)
        for swept in _sweep(entry):
            group = _labelled(entry.get("label", entry["family"]), swept)
            for seed in range(seeds) if isinstance(seeds, int) else seeds:
                parameters = {**entry.get("parameters", {}), **swept}
                yield group, {"family": entry["family"], "parameters": parameters, "seed": seed}


def _files(entry: Mapping[str, Any], folder: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    patterns = [entry["files"]] if isinstance(entry["files"], str) else entry["files"]
    for pattern in patterns:
        paths = sorted(glob.glob(str(folder / pattern), recursive=True))
        if not paths:
            raise ParameterError(f"no file matches {pattern!r} in {folder}")
        for path in map(Path, paths):
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            yield entry.get("label", path.name), {"file": str(path.resolve()), "sha256": digest}


def _sweep(entry: Mapping[str, Any]) -> list[dict[str, Any]]:
    sweep = entry.get("sweep", {})
    for key, values in sweep.items():
        if not isinstance(values, list) or not values:
            raise ParameterError(f"sweep of {key!r} is a list of values, not {values!r}")
    return [dict(zip(sweep, values, strict=True)) for values in itertools.product(*sweep.values())]


def _limits(data: Mapping[str, Any]) -> Limits:
    _known(data, {"time", "iterations", "wall", "memory"}, "limits")
    for key, value in data.items():
        if key != "memory" and (isinstance(value, bool) or not isinstance(value, int | float) or value <= 0):
            raise ParameterError(f"limit {key!r} is a positive number, not {value!r}")
    memory = data.get("memory")
    return Limits(**{**data, "memory": None if memory is None else bytes_of(memory)})


def bytes_of(text: str | int) -> int:
    """``"4 GB"``, ``"512MiB"`` or a number of bytes."""
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMG]I?B)?\s*", str(text).upper())
    if match is None or float(match[1]) <= 0:
        raise ParameterError(f"an amount of memory is like '4 GB' or '512 MiB', not {text!r}")
    return int(float(match[1]) * UNITS[match[2] or ""])


def _known(data: Mapping[str, Any], names: set[str], place: str) -> None:
    for name in data:
        if name not in names:
            raise ParameterError(f"{place} has no {name!r}; there are {', '.join(sorted(names))}")


def _count(data: Mapping[str, Any], key: str, default: int) -> int:
    value = data.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ParameterError(f"{key} is a whole number, not {value!r}")
    return value


def _labelled(label: str, swept: Mapping[str, Any]) -> str:
    return f"{label} ({', '.join(f'{key}={value}' for key, value in swept.items())})" if swept else label


def _identity(instance: Mapping[str, Any]) -> dict[str, Any]:
    """What decides an instance: a file is its content, wherever it lies."""
    return {key: value for key, value in instance.items() if key != "file"}


def _digest(data: Any) -> str:
    return hashlib.sha256(json.dumps(_plain(data), sort_keys=True).encode()).hexdigest()


def _plain(data: Any) -> Any:
    """Data with whole numbers as integers, so that 10 and 10.0 are the same run."""
    if isinstance(data, Mapping):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list | tuple):
        return [_plain(value) for value in data]
    return int(data) if isinstance(data, float) and data.is_integer() else data
