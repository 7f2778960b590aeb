"""Which kernels are there is known by the cache folder and the version of their sources."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dabp.kernels import cache
from dabp.problem import Problem
from dabp.solvers import warming
from dabp.solvers.local_costs.colouring import LARGE


def test_an_empty_folder_lacks_every_job_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And each job that is done is missing no more, for this version only."""
    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(warming, "JOBS", {"one": lambda: None, "two": lambda: None})
    assert warming.missing(["two", "one"]) == ["one", "two"]
    warming.make("one")
    assert warming.missing(["one", "two"]) == ["two"]
    monkeypatch.setattr(warming, "stamp", lambda: "another version")
    assert warming.missing(["one", "two"]) == ["one", "two"]


def test_a_job_that_fails_stays_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its marker is written after it, not before."""

    def fail() -> None:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(cache, "folder", lambda: tmp_path)
    monkeypatch.setattr(warming, "JOBS", {"one": fail})
    with pytest.raises(RuntimeError):
        warming.make("one")
    assert warming.missing(["one"]) == ["one"]


@pytest.mark.parametrize(
    ("problem", "own"),
    [
        (warming._drawn(3), "annealing"),
        (warming._drawn(3, real=True), "annealing-wide"),
        (warming._drawn(2), "annealing-binary"),
        (warming._drawn(2, ternary=True), "annealing"),
        (warming._drawn(3).with_costs(2.0**40 * warming._drawn(3).pool), "annealing-wide"),
    ],
)
def test_a_problem_waits_for_annealing_of_its_own_kind_only(problem: Problem, own: str) -> None:
    """Which is the one that its search would call."""
    assert warming.needed(["presolve", *warming.ANNEALING], problem) == [own, "presolve"]
    assert warming.needed(["bp", "dual"], problem) == ["bp", "dual"]


def test_a_large_problem_waits_for_sweeps_in_classes_as_well() -> None:
    """They come after what all problems need."""
    large = Problem([3] * LARGE)
    assert warming.needed(["presolve", "annealing"], large) == ["annealing", "annealing-large", "presolve"]


@pytest.mark.parametrize(("options", "variables"), [(["-O"], {}), ([], {"NUMBA_CPU_NAME": "generic"})])
def test_what_numba_compiles_anew_for_is_not_taken_for_ready(options: list[str], variables: dict[str, str]) -> None:
    """Without docstrings or for another processor nothing in the cache fits, so its stamp is another one."""
    script = "from dabp.solvers.warming import stamp; print(stamp())"
    environment = {**os.environ, **variables}
    done = subprocess.run(
        [sys.executable, *options, "-c", script], env=environment, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() != warming.stamp()
