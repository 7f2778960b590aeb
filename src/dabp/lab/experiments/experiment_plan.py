"""A plan: instances × solvers × repetitions, from a TOML file, expanded to runs that know their own name.

A run's `key` is a hash of everything that decides its outcome (the instance, the solver and its parameters,
the limits, the seed) and of nothing else: labels and the order of a plan may change without running
anything again, and two plans that share a run share its result.
"""

from __future__ import annotations

import contextlib
import fnmatch
import hashlib
import itertools
import json
import os
import re
import time
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dabp.driver.arguments import as_bytes
from dabp.errors import ParameterError
from dabp.lab.experiments.plan_section import MOST_RUNS, Section

MOST_BYTES = 10_000_000
"""Largest size in bytes of a plan's file."""

MOST_ENTRIES = 1_000_000
"""Entries of folders that one pattern of files may look at."""

SEARCH_SECONDS = 10.0
"""Time that one pattern of files may search."""


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
    shorter: tuple[int, ...] = ()
    """Numbers of restarts whose results this run gives, too (`prefixes`); no part of a plan or a result."""

    @property
    def label(self) -> str:
        """The solver's label in tables, with swept parameters."""
        return _labelled(self.series, self.swept)

    @cached_property
    def key(self) -> str:
        """40 hexadecimal digits that name the result."""
        identity = {
            "format": 1,  # with another number no earlier result is used
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
        """Names the instance and the repetition; paired comparisons pair runs of the same `instance_key`."""
        return _digest({"instance": _identity(self.instance), "repetition": self.repetition})[:16]

    def to_dict(self) -> dict[str, Any]:
        """Numbers, texts, lists and dictionaries, for a message or a file."""
        data = {**asdict(self), "key": self.key}
        return data if self.shorter else {name: value for name, value in data.items() if name != "shorter"}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Run:
        """The run of which `to_dict` made `data`."""
        fields = {name: value for name, value in data.items() if name != "key"}
        shorter = tuple(data.get("shorter", ()))
        return cls(**{**fields, "limits": Limits(**data["limits"]), "shorter": shorter})


@dataclass(frozen=True)
class Plan:
    """A named list of runs, and the text it was written as."""

    name: str
    title: str
    runs: tuple[Run, ...]
    figures: tuple[str, ...] = ()
    text: str = ""
    path: tuple[str, ...] = field(default=(), compare=False)
    """Folders in which solvers of the user's own are looked for: the plan's own; no part of a record."""

    @property
    def groups(self) -> list[str]:
        """Labels of the instances, in the order of the plan."""
        return list(dict.fromkeys(run.group for run in self.runs))

    @property
    def labels(self) -> list[str]:
        """Labels of the solvers, in the order of the plan."""
        return list(dict.fromkeys(run.label for run in self.runs))

    def to_dict(self) -> dict[str, Any]:
        """Numbers, texts, lists and dictionaries, for a file."""
        return {
            "name": self.name,
            "title": self.title,
            "figures": list(self.figures),
            "text": self.text,
            "runs": [run.to_dict() for run in self.runs],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Plan:
        """The plan of which `to_dict` made `data`."""
        runs = tuple(Run.from_dict(run) for run in data["runs"])
        return cls(data["name"], data["title"], runs, tuple(data["figures"]), data["text"])


def load_plan(path: str | Path, trust: Sequence[str] = ()) -> Plan:
    """Read a plan; file instances are found relative to it, and elsewhere in folders that `trust` names."""
    path = Path(path)
    try:
        with open(path, "rb") as stream:
            content = stream.read(MOST_BYTES + 1)
        if len(content) > MOST_BYTES:
            raise ParameterError(f"{path}: a plan has at most {MOST_BYTES:,} bytes")
        text = content.decode("utf-8")
        data = tomllib.loads(text)
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None
    except (ValueError, RecursionError) as error:  # also a number of thousands of digits, or lists that deep
        raise ParameterError(f"{path}: is not TOML: {error}") from None
    try:
        return _plan(data, text, path, trust)
    except ParameterError as error:
        raise ParameterError(f"{path}: {error}") from None


def run_seed(plan_seed: int, instance: Mapping[str, Any], repetition: int) -> int:
    """The seed of a run: 32 bits of a hash of the plan's seed, the instance and the number of the repetition.

    It is the same for every solver, so that solvers are compared in pairs.
    """
    return int(_digest({"plan": plan_seed, "instance": _identity(instance), "repetition": repetition})[:8], 16)


def _plan(data: Mapping[str, Any], text: str, path: Path, trust: Sequence[str]) -> Plan:
    top = Section(data, "the plan", "the plan")
    name = top.get("name", path.stem)
    if not re.fullmatch(r"\w[\w.-]*", name):
        raise ParameterError(f"name is letters, digits, '-', '_' and '.' (not first), not {name!r}")
    seed, repetitions = int(top.get("seed", 0)), int(top.get("repetitions", 1))
    title, figures = top.get("title", name), tuple(top.get("figures", ()))
    solvers = list(itertools.islice(_solvers(top), MOST_RUNS + 1))
    instances = list(itertools.islice(_instances(top, path.parent, trust), MOST_RUNS + 1))
    if (count := len(solvers) * len(instances) * repetitions) > MOST_RUNS:
        raise ParameterError(f"a plan has at most {MOST_RUNS:,} runs, this one at least {count:,}: make several of it")
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
    return Plan(name, title, runs, figures, text, (str(path.parent.resolve()),))


def _solvers(top: Section) -> Iterator[tuple[str, dict[str, Any], Limits, str, dict[str, Any]]]:
    limits = _limits(top.limits(), Limits())
    labels: set[str] = set()
    for entry in top.tables("solvers"):
        if "solver" not in entry:
            raise ParameterError(f'{entry.place} needs solver = "name"')
        solver = entry.get("solver")
        series = entry.get("label", solver)
        if series in labels:
            raise ParameterError(f"two [[solvers]] entries are labelled {series!r}: give each a label of its own")
        labels.add(series)
        own = _limits(entry.limits(), limits)
        parameters = entry.values("parameters")
        for swept in _sweep(entry):
            yield solver, {**parameters, **swept}, own, series, swept


def _instances(top: Section, folder: Path, trust: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for entry in top.tables("instances"):
        if ("family" in entry) == ("files" in entry):
            raise ParameterError(f'{entry.place} has either family = "name" or files = ["pattern"]')
        yield from _files(entry, folder, trust) if "files" in entry else _family(entry)


def _family(entry: Section) -> Iterator[tuple[str, dict[str, Any]]]:
    family, seeds = entry.get("family"), entry.get("seeds", 1)
    label, parameters = entry.get("label", family), entry.values("parameters")
    for swept in _sweep(entry):
        for seed in map(int, seeds if isinstance(seeds, list) else range(int(seeds))):
            yield _labelled(label, swept), {"family": family, "parameters": {**parameters, **swept}, "seed": seed}


def _files(entry: Section, folder: Path, trust: Sequence[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    for key in ("parameters", "sweep", "seeds"):
        if key in entry:
            raise ParameterError(f"{key!r} of {entry.place} goes with family, not with files")
    patterns = entry.get("files")
    for pattern in patterns if isinstance(patterns, list) else [patterns]:
        paths = sorted(_matching(pattern, folder, trust))
        if not paths:
            raise ParameterError(f"no file matches {pattern!r} in {folder}")
        for path in paths:
            yield entry.get("label", path.name), {"file": str(path.resolve()), "sha256": digest_of(path)}


def _matching(pattern: str, folder: Path, trust: Sequence[str]) -> Iterator[Path]:
    """Files that match a pattern, in the plan's folder or in folders that the caller trusts."""
    parts = Path(pattern).parts
    fixed = list(itertools.takewhile(lambda part: not _is_wild(part), parts[:-1]))
    start, allowed = Path(folder, *fixed), [Path(each).resolve() for each in trust]
    outside = ".." in parts or Path(pattern).is_absolute()
    if outside and (".." in parts[len(fixed) :] or not any(map(start.resolve().is_relative_to, allowed))):
        raise ParameterError(
            f"{pattern!r} is outside of the plan's folder: if you know and want it, allow it with "
            f"--trust {start} (in Python trust=[{str(start)!r}])"
        )
    deadline, entries = time.monotonic() + SEARCH_SECONDS, itertools.count(1)

    def entries_of(place: Path) -> Iterator[os.DirEntry[str]]:
        with contextlib.suppress(OSError), os.scandir(place) as inside:
            for entry in inside:
                if next(entries) > MOST_ENTRIES or time.monotonic() > deadline:
                    limits = f"more than {MOST_ENTRIES:,} files or for longer than {SEARCH_SECONDS:g} s"
                    raise ParameterError(f"{pattern!r} looks at {limits}: name the folders")
                yield entry

    def below(place: Path, name: str, *rest: str) -> Iterator[Path]:
        if name == "**":
            yield from below(place, *(rest or "*"))
            inner = [Path(each) for each in entries_of(place) if each.is_dir(follow_symlinks=False)]
            yield from itertools.chain(*(below(each, name, *rest) for each in inner if each.name[0] != "."))
            return
        named = (Path(each) for each in entries_of(place) if fnmatch.fnmatch(each.name, name))
        shown = [each for each in named if each.name[0] != "." or name[0] == "."] if _is_wild(name) else [place / name]
        for found in shown:
            if rest and found.is_dir():
                yield from below(found, *rest)
            elif not rest and found.exists() and not found.is_dir():
                yield found

    if parts:
        yield from dict.fromkeys(below(start, *parts[len(fixed) :]))


def _is_wild(name: str) -> bool:
    return any(character in name for character in "*?[")


def digest_of(path: Path) -> str:
    """The hash of a file's content; devices and pipes have no content that stays."""
    if not path.is_file():
        raise ParameterError(f"{path}: is not a regular file")
    try:
        with open(path, "rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ParameterError(f"{path}: cannot be read: {error.strerror}") from None


def _sweep(entry: Section) -> Iterator[dict[str, Any]]:
    choices = entry.values("sweep", "choices")
    return (dict(zip(choices, values, strict=True)) for values in itertools.product(*choices.values()))


def _limits(section: Section, default: Limits) -> Limits:
    """The limits of a section, completed by the default ones."""
    given = dict(section.data)
    try:
        if "memory" in section:
            given["memory"] = as_bytes("memory", given["memory"])
    except ParameterError as error:
        raise ParameterError(f"'memory' of {section.place}: {error}") from None
    if given.get("memory") == 0:
        raise ParameterError(f"'memory' of {section.place} is more than 0 bytes, not {section.get('memory')!r}")
    if "iterations" in section:
        given["iterations"] = int(given["iterations"])
    return replace(default, **given)


def _labelled(label: str, swept: Mapping[str, Any]) -> str:
    return f"{label} ({', '.join(f'{key}={value}' for key, value in swept.items())})" if swept else label


def _identity(instance: Mapping[str, Any]) -> dict[str, Any]:
    """The part of an instance that decides its costs: of a file the content, not the path."""
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
