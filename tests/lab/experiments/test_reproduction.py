"""Recorded answers are believed once their costs were computed from the instance made again."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dabp.cli import app
from dabp.lab.experiments.reproduction import verify
from dabp.lab.experiments.store import Results


def test_results_of_a_run_hold(results: Results) -> None:
    """Every finished run of an experiment, its instance made again."""
    verdicts = list(verify(results, results.plan()))
    assert len(verdicts) >= 20
    assert not [each.wrong for each in verdicts if each.wrong]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda row: row.update(cost=row["cost"] - 1), "its assignment costs"),
        (lambda row: row.update(assignment=[10**6, *row["assignment"][1:]]), "values that are not in the domains"),
        (lambda row: row.update(bound=row["cost"] + 1), "its bound"),
        (lambda row: row.update(variables=1, assignment=[0]), "the result says 1"),
    ],
)
def test_an_edited_result_is_told(results: Results, tmp_path: Path, change: object, words: str) -> None:
    """A cost, value, bound or size that somebody changed in a file, by the command, which ends with 1."""
    folder = tmp_path / "results"
    shutil.copytree(results.path, folder)
    for path in sorted((folder / "runs").glob("*.jsonl")):
        first, *rest = path.read_text().splitlines()
        row = json.loads(first)
        if row["state"] == "done" and row["assignment"]:
            change(row)
            path.write_text("\n".join([json.dumps(row), *rest]) + "\n")
            break
    done = CliRunner().invoke(app, ["lab", "experiment", "check", str(folder)])
    assert done.exit_code == 1
    assert words in done.stdout
    assert "1 do not hold" in done.stdout
    assert CliRunner().invoke(app, ["lab", "experiment", "check", str(results.path)]).exit_code == 0


def test_a_run_is_repeated_by_its_key(results: Results) -> None:
    """The same cost in as many iterations; without a key all runs and their seeds are listed."""
    run = next(run for run in results.plan().runs if run.label == "short")
    listed = CliRunner().invoke(app, ["lab", "experiment", "rerun", str(results.path)])
    assert f"{run.key[:12]}  seed {run.seed}  short" in listed.stdout
    assert len(listed.stdout.splitlines()) == len(results.plan().runs)
    command = ["lab", "experiment", "rerun", str(results.path), run.key[:12], "--trust", "faults"]
    done = CliRunner().invoke(app, command)
    assert done.exit_code == 0, done.output
    _, recorded, repeated = done.stdout.splitlines()
    assert recorded.partition(": ")[2].rpartition(",")[0] == repeated.partition(": ")[2].rpartition(",")[0]
    assert f"cost {results.summary(run.key)['cost']:.15g}" in repeated
    broken = next(run for run in results.plan().runs if run.label == "broken")
    assert CliRunner().invoke(app, [*command[:3], broken.key, *command[4:]]).exit_code == 1
