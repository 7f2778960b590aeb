"""When a solve is saved: every few seconds, at its end, and never at the cost of its answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from dabp.driver.checkpoint import file, schedule
from dabp.driver.solve import solve
from dabp.errors import CheckpointError, ParameterError
from dabp.generators import generate
from tests.sampling import Sampling


def test_only_solvers_that_can_are_saved(tmp_path: Path) -> None:
    """Told before the solve, not when the first state is due."""
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    with pytest.raises(ParameterError, match="does not support checkpoints"):
        solve(problem, "toulbar2", checkpoint=tmp_path / "c")
    with pytest.raises(ParameterError, match="needs the checkpoint file"):
        solve(problem, Sampling(), resume=True)


def test_states_are_written_while_the_solve_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each state is of a block that was recorded, and goes to disk when its time has come, not only at the end."""
    monkeypatch.setattr(schedule, "CAPTURE_SECONDS", 0.0)
    monkeypatch.setattr(schedule, "SAVE_SECONDS", 0.0)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    path, seen = tmp_path / "c", []

    def look(progress: object) -> None:
        seen.append(path.stat().st_mtime_ns if path.exists() else 0)

    solve(problem, Sampling(), max_iterations=50, checkpoint=path, callbacks=[look])
    assert len(seen) == 5
    assert seen[0] > 0
    assert seen[-1] > seen[0]
    assert file.previous(path).exists()


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
    assert result.cost == solve(problem, Sampling(), max_iterations=50).cost
    assert any("cannot write the checkpoint" in note for note in result.notes)


def test_the_end_is_saved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short ago the state was last copied aside, a solve that reaches its limit saves where it ended."""
    monkeypatch.setattr(schedule, "CAPTURE_SECONDS", 1e9)
    problem = generate("random-cop", variables=8, domain=3, density=0.5, seed=0)
    path = tmp_path / "c"
    solve(problem, Sampling(), max_iterations=50, checkpoint=path)
    again = solve(problem, Sampling(), max_iterations=50, checkpoint=path, resume=True)
    assert again.iterations == 60  # a solve always takes a step, here of ten iterations, from where it was
