"""Checkpoints: what is saved comes back, what is damaged or foreign is refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dabp.driver import checkpoint, saving, trace
from dabp.driver.solve import solve
from dabp.errors import CheckpointError
from dabp.generators import generate
from dabp.problem import Problem
from tests.sampling import Sampling

IDENTITY = {"problem": "p", "solver": "s"}


def test_round_trip(tmp_path: Path) -> None:
    """Arrays of every kind and nested JSON values survive."""
    state = {
        "a": np.arange(6.0).reshape(2, 3),
        "empty": np.zeros((0, 2)),
        "flags": np.array([True, False]),
        "nested": {"big": 2**100, "none": None, "list": [1.5, "x"]},
    }
    checkpoint.save(tmp_path / "c", state, **IDENTITY)
    loaded, warning = checkpoint.load(tmp_path / "c", **IDENTITY)
    assert warning is None
    assert loaded["nested"] == state["nested"]
    for key in ("a", "empty", "flags"):
        assert np.array_equal(loaded[key], state[key])
        assert loaded[key].dtype == state[key].dtype


def test_damage_is_found_and_the_generation_before_is_used(tmp_path: Path) -> None:
    """Any flipped byte or cut is noticed; with an earlier generation the run goes on."""
    path = tmp_path / "c"
    checkpoint.save(path, {"n": 1, "a": np.arange(5)}, **IDENTITY)
    good = path.read_bytes()
    rng = np.random.default_rng(0)
    for _ in range(60):
        bad = bytearray(good)
        place = int(rng.integers(len(bad)))
        bad[place] ^= int(rng.integers(1, 256))
        path.write_bytes(bytes(bad) if rng.random() < 0.5 else good[:place])
        with pytest.raises(CheckpointError, match=r"c: "):
            checkpoint.load(path, **IDENTITY)
    path.write_bytes(good)
    checkpoint.save(path, {"n": 2}, **IDENTITY)
    path.write_bytes(path.read_bytes()[:-9])
    state, warning = checkpoint.load(path, **IDENTITY)
    assert state["n"] == 1
    assert warning is not None
    assert "previous" in warning


@pytest.mark.parametrize(("what", "message"), [("problem", "another problem"), ("solver", "was made by")])
def test_foreign_checkpoints_are_refused(tmp_path: Path, what: str, message: str) -> None:
    """A checkpoint of another problem or solver is refused by name."""
    checkpoint.save(tmp_path / "c", {}, **IDENTITY)
    with pytest.raises(CheckpointError, match=message):
        checkpoint.load(tmp_path / "c", **{**IDENTITY, what: "other"})


def test_a_resumed_run_equals_the_uninterrupted_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopping anywhere and resuming gives the same trace and answer."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    whole = solve(problem, Sampling(), max_iterations=100)
    path = tmp_path / "c"
    solve(problem, Sampling(), max_iterations=30, checkpoint=path)
    solve(problem, Sampling(), max_iterations=60, checkpoint=path, resume=True)
    rest = solve(problem, Sampling(), max_iterations=100, checkpoint=path, resume=True)
    assert np.array_equal(rest.trace.iteration_costs, whole.trace.iteration_costs)
    assert [row[1:] for row in rest.trace.improvements] == [row[1:] for row in whole.trace.improvements]
    assert np.array_equal(rest.assignment, whole.assignment)
    with pytest.raises(CheckpointError, match="another problem"):
        solve(generate("random-cop", seed=1), Sampling(), checkpoint=path, resume=True)
    with pytest.raises(CheckpointError, match="was made by"):
        solve(problem, Sampling(), seed=1, checkpoint=path, resume=True)


@pytest.mark.parametrize(
    ("changes", "options"),
    [({"pool": [1.0, 0.0, 0.0, 1.0]}, {}), ({}, {"fix": {"x0": 1}}), ({"constant": 2.0}, {}), ({"limit": 7.0}, {})],
)
def test_what_presolve_makes_equal_is_told_apart(
    tmp_path: Path, changes: dict[str, Any], options: dict[str, Any]
) -> None:
    """Presolve leaves nothing of small problems: a checkpoint belongs to one of them and to what was fixed."""
    problem, path = Problem([2, 2], [0, 1], [0, 2], [0.0, 1.0, 1.0, 0.0], [0, 4]), tmp_path / "c"
    solve(problem, "auto", fix={"x0": 0}, checkpoint=path)
    with pytest.raises(CheckpointError, match="belongs to another problem"):
        solve(problem.replace(**changes), "auto", **{"fix": {"x0": 0}, **options}, checkpoint=path, resume=True)
    assert solve(problem, "auto", fix={"x0": 0}, checkpoint=path, resume=True).values == {"x0": 0, "x1": 0}


def test_a_checkpoint_that_cannot_be_written_does_not_cost_the_answer(tmp_path: Path) -> None:
    """A missing folder is told before solving, a disk that fails later with the answer."""
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    with pytest.raises(CheckpointError, match="its folder does not exist"):
        solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / "none" / "c")
    with pytest.raises(CheckpointError, match="it is a folder"):
        solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    gone = [lambda progress: folder.rmdir() if folder.exists() else None]
    result = solve(problem, Sampling(), max_iterations=50, checkpoint=folder / "c", callbacks=gone)
    assert result.cost == problem.cost(result.assignment)
    assert any("cannot write the checkpoint" in note for note in result.notes)


def test_long_traces_are_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only the best of each block is kept, so it is in a checkpoint."""
    monkeypatch.setattr(trace, "KEPT", 20)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    path = tmp_path / "c"
    first = solve(problem, Sampling(), max_iterations=50, checkpoint=path)
    again = solve(problem, Sampling(), max_iterations=60, checkpoint=path, resume=True)
    assert first.trace.iterations == 50
    assert again.trace.iterations == 60
    assert np.array_equal(again.trace.iteration_costs[:50], first.trace.iteration_costs)


def test_the_end_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short ago the state was last copied aside, a solve that reaches its limit saves where it ended."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 1e9)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    path = tmp_path / "c"
    solve(problem, Sampling(), max_iterations=50, checkpoint=path)
    again = solve(problem, Sampling(), max_iterations=50, checkpoint=path, resume=True)
    assert again.iterations == 60  # a solve always takes a step, here of ten iterations, from where it was
