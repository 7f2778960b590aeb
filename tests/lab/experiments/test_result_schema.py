"""Everything that is read back is checked: what does not fit is told with file, line and key."""

from __future__ import annotations

import copy
import io
import random
from pathlib import Path
from typing import Any

import pytest

from dabp.errors import FormatError
from dabp.lab.experiments.execution import execute
from dabp.lab.experiments.experiment_plan import Limits, Plan, Run
from dabp.lab.experiments.result_schema import MismatchError, fitting, lines_of, plan_of, row_of, summary_of

INSTANCE = {"family": "random-cop", "parameters": {"variables": 4, "domain": 2, "density": 0.5}, "seed": 0}
RUN = Run(INSTANCE, "dbp", {"restarts": 1}, Limits(iterations=30), 1, 0, "group", "label")
ENVIRONMENT = {"started": "2026", "command": [], "versions": {}, "machine": {}}


@pytest.fixture(scope="module")
def lines() -> list[dict[str, Any]]:
    """What a run writes, with what its process adds."""
    [[summary, *trace]] = execute(RUN)
    return [{**summary, "cpu": 0.5, "wall": 0.6, "peak_memory": 10**8}, *trace]


def test_what_is_written_fits(lines):
    """Results, failures, traces and plans of this version."""
    assert summary_of(lines[0]) == lines[0]
    assert [row_of(row) for row in lines[1:]] == lines[1:]
    failed = execute(Run(INSTANCE, "no", {}, Limits(), 1, 0))[0][0]
    assert summary_of(failed)["state"] == "failed"
    record = {**Plan("p", "P", (RUN,), ("memory",), "text").to_dict(), "environment": ENVIRONMENT}
    assert Plan.from_dict(plan_of(record)).runs == (RUN,)


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("cost", "7", "'cost' is a finite number or null, not '7'"),
        ("cost", 10**400, "'cost' is a finite number"),
        ("cost", True, "'cost' is a finite number"),
        ("cost", None, "both a cost and an assignment"),
        ("status", "GREAT", "'status' is a status"),
        ("state", "won", "'state' is done or failed"),
        ("iterations", -1, "'iterations' is a whole number"),
        ("runtime", -0.5, "'runtime' is a number of at least 0"),
        ("assignment", [0, 1], "not one value for each variable"),
        ("assignment", [0, 1, -1, 0], "'assignment' is a list of whole numbers"),
        ("maximize", 1, "'maximize' is true or false"),
        ("key", "../../etc/passwd", "'key' is 40 hex digits"),
        ("format", 99, "this version reads up to 1"),
        ("cpu", None, "'cpu' is a number"),
        ("peak_memory", "much", "'peak_memory' is a number"),
    ],
)
def test_a_summary_has_its_keys_types_and_ranges(lines, key, value, words):
    """Each told by name."""
    with pytest.raises(MismatchError, match=words):
        summary_of({**lines[0], key: value})


def test_missing_keys_are_named(lines):
    """Whichever it is."""
    for key in set(lines[0]) - {"format", "wall", "peak_memory", "generation_time"}:
        with pytest.raises(MismatchError, match=f"'{key}' is missing"):
            summary_of({name: value for name, value in lines[0].items() if name != key})


def test_no_damage_gets_through_as_another_error(lines):
    """2,000 values replaced at random places of a result and of a plan: accepted, or a `MismatchError`."""
    rng = random.Random(0)
    record = {**Plan("p", "P", (RUN,), ("memory",), "text").to_dict(), "environment": ENVIRONMENT}
    wild = [None, True, -1, 1e308, 10**400, "", "x" * 100, [], {}, [[]], {"a": {"b": []}}, "\u202e", 0.5]
    for check, whole in ((summary_of, lines[0]), (row_of, lines[1]), (plan_of, record)):
        for _ in range(700):
            data = copy.deepcopy(whole)
            place = data
            while True:
                key = rng.choice(list(place) if isinstance(place, dict) else list(range(len(place))))
                inner = place[key]
                if isinstance(inner, dict | list) and inner and rng.random() < 0.7:
                    place = inner
                    continue
                place[key] = rng.choice(wild)
                break
            try:
                checked = check(data)
            except MismatchError:
                continue
            if check is plan_of:
                [run.key for run in Plan.from_dict(checked).runs]


def test_lines_are_json_of_bounded_length(monkeypatch):
    """Named with their number; NaN is no JSON, and an endless line is not read to its end."""
    path = Path("x.jsonl")
    for content, line in ((b"{}\n{", 2), (b"NaN\n", 1), (b"[" * 100_000, 1), (b"{}\n\xff\n", 2)):
        with pytest.raises(FormatError) as caught:
            list(lines_of(io.BytesIO(content), path))
        assert str(caught.value).startswith(f"x.jsonl:{line}: ")
    monkeypatch.setattr("dabp.lab.experiments.result_schema.LONGEST", 10)
    with pytest.raises(FormatError, match="longer than 10 bytes"):
        list(lines_of(io.BytesIO(b"1" * 100), path))


def test_complaints_get_their_place():
    """File, line and key."""
    with pytest.raises(FormatError, match=r"x\.jsonl:3: 'type' is improvement, bound, restart, not 'other'"):
        fitting(row_of, {"type": "other"}, Path("x.jsonl"), 3)
