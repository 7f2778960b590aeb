"""Where results lie: one writer, one record of where they were made, and a packed file that says the same."""

from __future__ import annotations

import dataclasses

import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.results_table import rows
from dabp.lab.experiments.store import Results, ResultsFolder
from tests.lab.experiments.small import TRIVIAL, make_plan, run_plan


def test_where_results_were_made_stays_on_record(tmp_path):
    """Looking again changes nothing; going on adds a session."""
    small, large = make_plan(tmp_path, 1, TRIVIAL), make_plan(tmp_path, 2, TRIVIAL)
    for plan, command in ((small, "first"), (small, "look"), (large, "second"), (large, "look again")):
        run_plan(plan, tmp_path / "out", command=[command])
    environment = Results(tmp_path / "out").environment()
    assert environment["command"] == ["second"]
    assert [session["command"] for session in environment["earlier"]] == [["first"]]


def test_plans_that_share_a_folder_and_a_label_are_told_apart(tmp_path):
    """The same label for different parameters is no mean of both."""
    for name, steps in (("a", 1), ("b", 30)):
        text = f'[[solvers]]\nlabel = "S"\nsolver = "faults:Trivial"\nparameters = {{ steps = {steps} }}\n'
        plan = make_plan(tmp_path, 2, text + TRIVIAL)
        run_plan(dataclasses.replace(plan, name=name), tmp_path / "out", jobs=2)
    results = Results(tmp_path / "out")
    assert results.plan().labels == ["S [a]", "trivial", "S [b]"]
    table = {row.label: row for row in rows(results, results.plan())}
    assert [table[label].runs for label in ("S [a]", "S [b]", "trivial")] == [2, 2, 2]
    assert table["S [b]"].cost < table["S [a]"].cost


def test_a_folder_has_one_writer(tmp_path):
    """Two experiments in one folder would count each other's half-written files."""
    plan = make_plan(tmp_path, 1, TRIVIAL)
    with ResultsFolder(tmp_path / "out").held(), pytest.raises(ParameterError, match="in use"):
        run_plan(plan, tmp_path / "out")


def test_a_packed_file_says_the_same(tmp_path, results):
    """The compact file that is committed or sent carries plans, summaries and traces."""
    count = results.pack(tmp_path / "packed.jsonl.xz")
    packed = Results(tmp_path / "packed.jsonl.xz")
    assert count == 36
    assert packed.plan() == results.plan()
    assert packed.outcomes(packed.plan()) == results.outcomes(results.plan())
    key = results.plan().runs[0].key
    assert packed.trace(key) == results.trace(key) != []
    (tmp_path / "bad.jsonl.xz").write_bytes((tmp_path / "packed.jsonl.xz").read_bytes()[:-200])
    with pytest.raises(ParameterError, match="damaged"):
        Results(tmp_path / "bad.jsonl.xz")


def test_an_experiment_goes_on_from_a_packed_file(tmp_path):
    """What was sent is not run again, and what is in the folder already is not replaced."""
    small, large = make_plan(tmp_path, 1, TRIVIAL), make_plan(tmp_path, 3, TRIVIAL)
    run_plan(small, tmp_path / "first", command=["first"])
    Results(tmp_path / "first").pack(tmp_path / "packed.jsonl.xz")
    packed = Results(tmp_path / "packed.jsonl.xz")
    assert packed.unpack(tmp_path / "second") == len(small.runs)
    assert packed.unpack(tmp_path / "second") == 0
    progress = run_plan(large, tmp_path / "second", command=["second"])
    assert (progress.skipped, progress.done) == (len(small.runs), len(large.runs) - len(small.runs))
    second = Results(tmp_path / "second")
    key = small.runs[0].key
    assert second.summary(key) == packed.summary(key)
    assert second.trace(key) == packed.trace(key) != []
    assert [session["command"] for session in second.environment()["earlier"]] == [["first"]]
