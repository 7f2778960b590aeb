"""Where results lie: a folder with a file per run, or one packed file for keeping and sending.

A folder has ``runs/KEY.jsonl`` (a summary line, then the trace) and ``plans/NAME.json`` (the expanded plan and
how it was run). Files appear whole or not at all: they are written beside, flushed to the disk and renamed.
"""

from __future__ import annotations

import contextlib
import json
import lzma
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dabp.driver.file_lock import Lock
from dabp.errors import FormatError, ParameterError
from dabp.lab.experiments.experiment_plan import Plan, Run
from dabp.lab.experiments.result_schema import FORMAT, fitting, lines_of, plan_of, row_of, summary_of
from dabp.safe_files import replacing

Summary = Mapping[str, Any]
Trace = list[dict[str, Any]]

LARGEST_PACKED = 2**33
"""Largest size in bytes of an unpacked file: a hundred thousand runs of thousands of improvements."""


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
    """What an experiment has found so far; for reading.

    A result whose file is damaged is left out, with a warning that names it: it was one of many.
    """

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self._plans: dict[str, dict[str, Any]] = {}
        self._packed: dict[str, tuple[Summary, Trace]] | None = None
        self._left_out: set[str] = set()
        if self.path.is_dir():
            for file in sorted((self.path / "plans").glob("*.json")):
                self._plans[file.stem] = read_record(file)
        elif self.path.is_file():
            self._unpack()
        if not self._plans:
            raise ParameterError(
                f"{self.path} holds no results: run 'dabp lab experiment run PLAN -o {self.path}' first"
            )

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

    def grouped(self, plan: Plan) -> dict[str, dict[str, list[Outcome]]]:
        """The finished runs of a plan by group and label, in its order."""
        groups: dict[str, dict[str, list[Outcome]]] = {}
        for outcome in self.outcomes(plan):
            groups.setdefault(outcome.run.group, {}).setdefault(outcome.run.label, []).append(outcome)
        return groups

    def summary(self, key: str) -> Summary | None:
        """The first line of a result; None if that run has not finished."""
        if self._packed is not None:
            return self._packed[key][0] if key in self._packed else None
        try:
            return read_summary(self.path / "runs" / f"{key}.jsonl")
        except FormatError as error:
            self._leave_out(key, f"{error}; this result is left out, 'dabp lab experiment run' makes it again")
            return None

    def trace(self, key: str) -> Trace:
        """The improvements, bounds and records of a run."""
        if self._packed is not None:
            return self._packed[key][1]
        path = self.path / "runs" / f"{key}.jsonl"
        try:
            with open(path, "rb") as stream:
                return [fitting(row_of, row, path, line) for line, row in lines_of(stream, path) if line > 1]
        except FormatError as error:
            self._leave_out(key, f"{error}; this trace is left out")
            return []

    def _leave_out(self, key: str, sentence: str) -> None:
        if key not in self._left_out:
            self._left_out.add(key)
            warnings.warn(sentence, stacklevel=3)

    def pack(self, target: str | Path) -> int:
        """Write plans and results to one compressed file; the number of results."""
        keys = list(dict.fromkeys(run.key for name in self.plan_names for run in self.plan(name).runs))
        lines = [json.dumps({"type": "plan", **self._plans[name]}) for name in self.plan_names]
        count = 0
        for key in keys:
            summary = self.summary(key)
            if summary is not None:
                lines.append(json.dumps({"type": "result", "summary": summary, "trace": self.trace(key)}))
                count += 1
        with replacing(target, "wb") as stream:
            stream.write(lzma.compress("\n".join(lines).encode(), preset=9))
        return count

    def unpack(self, target: str | Path) -> int:
        """Put plans and results into a folder, so that an experiment goes on from them; the number of new results."""
        store = ResultsFolder(target)
        with store.held():
            there = store.finished()
            for name, record in self._plans.items():
                if not (store.path / "plans" / f"{name}.json").exists():
                    store.save_record(name, record)
            keys = dict.fromkeys(run.key for name in self.plan_names for run in self.plan(name).runs)
            missing = {key: self.summary(key) for key in keys if key not in there}
            found = {key: summary for key, summary in missing.items() if summary is not None}
            for key, summary in found.items():
                store.save([summary, *self.trace(key)])
        return len(found)

    def _record(self, name: str | None) -> dict[str, Any]:
        if name is None:
            name = self.plan_names[-1]
        if name not in self._plans:
            raise ParameterError(f"{self.path} has no plan {name!r}; there are {', '.join(self.plan_names)}")
        return self._plans[name]

    def _unpack(self) -> None:
        self._packed = {}
        try:
            with lzma.open(self.path, "rb") as stream:
                for line, row in lines_of(stream, self.path):
                    if stream.tell() > LARGEST_PACKED:
                        raise FormatError(f"unpacks to more than {LARGEST_PACKED:,} bytes", source=str(self.path))
                    self._take(row, line)
        except (lzma.LZMAError, EOFError, OSError):
            raise ParameterError(f"{self.path} is not a packed file of results, or is damaged") from None

    def _take(self, row: Any, line: int) -> None:
        """One line of a packed file: a plan, or a result with its trace."""
        assert self._packed is not None
        kind = row.pop("type", None) if isinstance(row, dict) else None
        if kind == "plan":
            plan = fitting(plan_of, row, self.path, line)
            self._plans[plan["name"]] = plan
        elif kind == "result":
            summary = fitting(summary_of, row.get("summary"), self.path, line)
            rows = row.get("trace") if isinstance(row.get("trace"), list) else [None]
            self._packed[summary["key"]] = summary, [fitting(row_of, each, self.path, line) for each in rows]
        else:
            raise FormatError("this is no plan and no result", source=str(self.path), line=line)


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
    """The folder an experiment writes to; one experiment at a time has it."""

    def __init__(self, path: str | Path):
        self.path = Path(path)
        self.runs = self.path / "runs"

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        """Lock the folder, and remove files that a killed experiment did not finish."""
        self.runs.mkdir(parents=True, exist_ok=True)
        (self.path / "plans").mkdir(exist_ok=True)
        with contextlib.ExitStack() as stack:
            try:
                stack.enter_context(Lock(self.path / "experiment"))
            except BlockingIOError:
                raise ParameterError(f"{self.path} is in use by another experiment: wait for it or stop it") from None
            for stale in self.path.glob("*/*.tmp"):
                stale.unlink()
            yield

    def finished(self) -> dict[str, bool]:
        """Keys of the runs that have a result, and whether that is a failure."""
        found = {}
        for path in sorted(self.runs.glob("*.jsonl")):
            try:
                summary = read_summary(path)
            except FormatError as error:
                warnings.warn(f"{error}; this run is done again if the plan has it", stacklevel=2)
                continue
            if summary is not None:
                found[path.stem] = summary["state"] == "failed"
        return found

    def save_plan(self, plan: Plan, environment: Mapping[str, Any], *, new: bool = True) -> None:
        """Keep the expanded plan with its results; `new` says whether any will be made in this environment.

        Where results were made before stays on record: as ``earlier`` of the newest environment.
        """
        path = self.path / "plans" / f"{plan.name}.json"
        made = dict(environment)
        if path.exists():
            try:
                before = read_record(path)["environment"]
            except FormatError as error:
                warnings.warn(f"{error}; where earlier results were made is no longer known", stacklevel=2)
            else:
                earlier = before.pop("earlier", [])
                made = {**made, "earlier": [*earlier, before]} if new else {**before, "earlier": earlier}
        self.save_record(plan.name, {"format": FORMAT, **plan.to_dict(), "environment": made})

    def save_record(self, name: str, record: Mapping[str, Any]) -> None:
        """Keep a plan as `read_record` gives it back."""
        with replacing(self.path / "plans" / f"{name}.json") as stream:
            stream.write(json.dumps(record))

    def save(self, rows: Sequence[Summary]) -> None:
        """Write a result, its summary first, to its file."""
        with replacing(self.runs / f"{rows[0]['key']}.jsonl") as stream:
            stream.writelines(f"{json.dumps(row)}\n" for row in rows)


def read_summary(path: Path) -> Summary | None:
    """The first line of a result's file, checked; None if there is no such file."""
    return _first_line(path, summary_of, "key", "result of another run") if path.exists() else None


def read_record(path: Path) -> dict[str, Any]:
    """A plan as a folder keeps it, checked."""
    return _first_line(path, plan_of, "name", "record of another plan")


def _first_line(path: Path, check: Callable[[Any], dict[str, Any]], key: str, other: str) -> dict[str, Any]:
    """The checked first line of a file that is named after its value of `key`."""
    try:
        with open(path, "rb") as stream:
            for line, data in lines_of(stream, path):
                found = fitting(check, data, path, line)
                if found[key] != path.stem:
                    raise FormatError(f"this is the {other}", source=str(path), line=line)
                return found
    except OSError as error:
        raise FormatError(f"cannot be read ({error.strerror})", source=str(path)) from None
    raise FormatError("this file is empty", source=str(path))
