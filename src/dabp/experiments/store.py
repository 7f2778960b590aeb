"""Where results lie: a folder with a file per run, or one packed file for keeping and sending.

A folder has ``runs/KEY.jsonl`` (a summary line, then the trace) and ``plans/NAME.json`` (the expanded plan and
how it was run). Files appear whole or not at all: they are written beside, flushed to the disk and renamed.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import lzma
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dabp.errors import ParameterError
from dabp.experiments.plan import Plan, Run

Summary = Mapping[str, Any]
Trace = list[dict[str, Any]]


@dataclass(frozen=True)
class Outcome:
    """A run as the plan labels it, and the summary of its result."""

    run: Run
    summary: Summary

    @property
    def cost(self) -> float | None:
        """Total cost per constraint as in the paper's tables; None if the run failed or found nothing."""
        cost = self.summary.get("cost")
        return None if cost is None else cost / max(self.summary["constraints"], 1)

    @property
    def failed(self) -> bool:
        """Whether there is no result: crashed, timed out, out of memory."""
        return bool(self.summary["state"] == "failed")


class Results:
    """What an experiment has found so far; for reading."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._plans: dict[str, dict[str, Any]] = {}
        self._packed: dict[str, tuple[Summary, Trace]] | None = None
        if self.path.is_dir():
            for file in sorted((self.path / "plans").glob("*.json")):
                self._plans[file.stem] = json.loads(file.read_text(encoding="utf-8"))
        elif self.path.is_file():
            self._unpack()
        if not self._plans:
            raise ParameterError(f"{self.path} holds no results: run 'dabp experiment run PLAN -o {self.path}' first")

    @property
    def plan_names(self) -> list[str]:
        """The plans that were run into here, the earliest first."""
        return sorted(self._plans, key=lambda name: (self._plans[name]["environment"]["started"], name))

    def plan(self, name: str | None = None) -> Plan:
        """One plan by name; without a name the only one, or all of them as one."""
        if name is None and len(self._plans) > 1:
            plans = _distinct([self.plan(each) for each in self.plan_names])
            runs = {(run.group, run.label, run.key): run for plan in plans for run in plan.runs}
            figures = dict.fromkeys(figure for plan in plans for figure in plan.figures)
            return Plan("all", "All plans", tuple(runs.values()), tuple(figures))
        return Plan.from_dict(self._record(name))

    def environment(self, name: str | None = None) -> dict[str, Any]:
        """Versions, machine and command of a plan's last run."""
        return dict(self._record(name)["environment"])

    def outcomes(self, plan: Plan) -> list[Outcome]:
        """The finished runs of a plan, in its order."""
        found = ((run, self.summary(run.key)) for run in plan.runs)
        return [Outcome(run, summary) for run, summary in found if summary is not None]

    def summary(self, key: str) -> Summary | None:
        """The first line of a result; None if that run has not finished."""
        if self._packed is not None:
            return self._packed[key][0] if key in self._packed else None
        try:
            with open(self.path / "runs" / f"{key}.jsonl", "rb") as stream:
                summary: Summary = json.loads(stream.readline())
        except FileNotFoundError:
            return None
        return summary

    def trace(self, key: str) -> Trace:
        """The improvements, bounds and records of a run."""
        if self._packed is not None:
            return self._packed[key][1]
        with open(self.path / "runs" / f"{key}.jsonl", "rb") as stream:
            stream.readline()
            return [json.loads(line) for line in stream]

    def pack(self, target: str | Path) -> int:
        """Write plans and results to one compressed file; how many results."""
        keys = list(dict.fromkeys(run.key for name in self.plan_names for run in self.plan(name).runs))
        lines = [json.dumps({"type": "plan", **self._plans[name]}) for name in self.plan_names]
        count = 0
        for key in keys:
            summary = self.summary(key)
            if summary is not None:
                lines.append(json.dumps({"type": "result", "summary": summary, "trace": self.trace(key)}))
                count += 1
        write_atomically(Path(target), lzma.compress("\n".join(lines).encode(), preset=9))
        return count

    def _record(self, name: str | None) -> dict[str, Any]:
        if name is None:
            name = self.plan_names[-1]
        if name not in self._plans:
            raise ParameterError(f"{self.path} has no plan {name!r}; there are {', '.join(self.plan_names)}")
        return self._plans[name]

    def _unpack(self) -> None:
        self._packed = {}
        try:
            with lzma.open(self.path, "rt", encoding="utf-8") as stream:
                for line in stream:
                    row = json.loads(line)
                    if row.pop("type") == "plan":
                        self._plans[row["name"]] = row
                    else:
                        self._packed[row["summary"]["key"]] = (row["summary"], row["trace"])
        except (lzma.LZMAError, ValueError, KeyError, EOFError):
            raise ParameterError(f"{self.path} is not a packed file of results, or is damaged") from None


def _distinct(plans: list[Plan]) -> list[Plan]:
    """Plans whose equal labels mean equal solvers: where they do not, a label says which plan it is of."""
    meanings: dict[str, set[str]] = {}
    for plan in plans:
        for run in plan.runs:
            meaning = json.dumps([run.solver, dict(run.parameters), asdict(run.limits)], sort_keys=True)
            meanings.setdefault(run.label, set()).add(meaning)
    return [
        replace(
            plan,
            runs=tuple(
                replace(run, series=f"{run.series} [{plan.name}]") if len(meanings[run.label]) > 1 else run
                for run in plan.runs
            ),
        )
        for plan in plans
    ]


class ResultsFolder:
    """The folder an experiment writes to; held by one experiment at a time."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.runs = self.path / "runs"

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Keep others out, and clear what a killed experiment left half written."""
        self.runs.mkdir(parents=True, exist_ok=True)
        (self.path / "plans").mkdir(exist_ok=True)
        with open(self.path / ".lock", "w") as lock:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise ParameterError(f"{self.path} is in use by another experiment: wait for it or stop it") from None
            for stale in self.path.glob("*/.*.part"):
                stale.unlink()
            yield

    def finished(self, retry_failed: bool = False) -> set[str]:
        """Keys of the runs that need not run (again)."""
        keys = {path.stem for path in self.runs.glob("*.jsonl")}
        return {key for key in keys if not self.failed(key)} if retry_failed else keys

    def failed(self, key: str) -> bool:
        """Whether a run is recorded as failed."""
        with open(self.runs / f"{key}.jsonl", "rb") as stream:
            return bool(json.loads(stream.readline())["state"] == "failed")

    def save_plan(self, plan: Plan, environment: Mapping[str, Any], *, new: bool = True) -> None:
        """Keep the expanded plan with its results; `new` says whether any will be made in this environment.

        Where results were made before stays on record: as ``earlier`` of the newest environment.
        """
        path = self.path / "plans" / f"{plan.name}.json"
        made = dict(environment)
        if path.exists():
            before = json.loads(path.read_text(encoding="utf-8"))["environment"]
            earlier = before.pop("earlier", [])
            made = {**made, "earlier": [*earlier, before]} if new else {**before, "earlier": earlier}
        write_atomically(path, json.dumps({**plan.to_dict(), "environment": made}).encode())

    def save(self, key: str, lines: bytes) -> None:
        """Keep one result."""
        write_atomically(self.runs / f"{key}.jsonl", lines + b"\n")


def write_atomically(path: Path, content: bytes) -> None:
    """All of it or nothing, also if the machine stops now."""
    part = path.with_name(f".{path.name}.part")
    with open(part, "wb") as stream:
        stream.write(content)
        stream.flush()
        os.fsync(stream.fileno())
    os.replace(part, path)
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
