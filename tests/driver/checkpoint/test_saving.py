"""When a solve is saved: every few seconds, at its end, and never at the cost of its answer."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from dabp.driver.checkpoint import file, saving
from dabp.driver.solve import solve
from dabp.errors import CheckpointError, ParameterError
from dabp.problem import Problem
from tests.sampling import Sampling


def test_only_solvers_that_can_are_saved(problem: Problem, tmp_path: Path) -> None:
    """Told before the solve, not when the first state is due."""
    with pytest.raises(ParameterError, match="does not support checkpoints"):
        solve(problem, "toulbar2", checkpoint=tmp_path / "c")
    with pytest.raises(ParameterError, match="needs the checkpoint file"):
        solve(problem, Sampling(), resume=True)


def test_states_are_written_while_the_solve_runs(
    problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each state is of a block that was recorded, and goes to disk when its time has come, not only at the end."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 0.0)
    monkeypatch.setattr(saving, "SAVE_SECONDS", 0.0)
    path, seen = tmp_path / "c", []

    def look(progress: object) -> None:
        seen.append(path.stat().st_mtime_ns if path.exists() else 0)

    solve(problem, Sampling(), max_iterations=50, checkpoint=path, callbacks=[look])
    assert len(seen) == 5
    assert seen[0] > 0
    assert seen[-1] > seen[0]
    assert file.previous(path).exists()


def test_a_checkpoint_that_cannot_be_written_does_not_cost_the_answer(problem: Problem, tmp_path: Path) -> None:
    """A missing folder is told before solving, a disk that fails later with the answer."""
    with pytest.raises(CheckpointError, match="its folder does not exist"):
        solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / "none" / "c")
    with pytest.raises(CheckpointError, match="it is a folder"):
        solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path)
    folder = tmp_path / "folder"
    folder.mkdir()
    gone = [lambda progress: shutil.rmtree(folder, ignore_errors=True)]
    with pytest.warns(UserWarning, match="cannot write the checkpoint") as warned:
        result = solve(problem, Sampling(), max_iterations=50, checkpoint=folder / "c", callbacks=gone)
    assert len(warned) == 1
    assert result.cost == solve(problem, Sampling(), max_iterations=50).cost
    assert any("cannot write the checkpoint" in note for note in result.notes)


def test_the_end_is_saved(problem: Problem, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """However short ago the state was last copied aside, a limit saves where it ended; there, a resumed solve ends."""
    monkeypatch.setattr(saving, "CAPTURE_SECONDS", 1e9)
    path = tmp_path / "c"
    solve(problem, Sampling(), max_iterations=50, checkpoint=path)
    written = path.read_bytes()
    again = solve(problem, Sampling(), max_iterations=50, checkpoint=path, resume=True)
    assert (again.iterations, again.limit, path.read_bytes() == written) == (50, "iteration limit", True)


@pytest.mark.parametrize("content", [b"two 2 2 1 9\n2 2\n2 0 1 5 4\n", b"anything"])
def test_a_file_that_is_not_ours_is_never_replaced(problem: Problem, tmp_path: Path, content: bytes) -> None:
    """Neither the problem's own file nor any other, also not where the generation before would go."""
    for name in ("p.wcsp", "q.previous"):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(CheckpointError, match="is no checkpoint of dabp's"):
            solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / name.removesuffix(".previous"))
        assert (tmp_path / name).read_bytes() == content
    with pytest.raises(CheckpointError, match="not a"):
        solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / "p.wcsp", resume=True)
    assert (tmp_path / "p.wcsp").read_bytes() == content
    assert sorted(each.name for each in tmp_path.iterdir()) == ["p.wcsp", "q.previous"]
    (tmp_path / "empty").touch()  # as mktemp makes them
    assert solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / "empty").iterations == 50


def test_an_earlier_checkpoint_is_not_replaced_when_resume_is_forgotten(problem: Problem, tmp_path: Path) -> None:
    """Hours may be in it."""
    solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / "c")
    content = (tmp_path / "c").read_bytes()
    with pytest.raises(CheckpointError, match="there is a checkpoint already"):
        solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / "c")
    assert (tmp_path / "c").read_bytes() == content
    assert [each.name for each in tmp_path.iterdir()] == ["c"]


def test_two_solves_do_not_share_a_checkpoint(problem: Problem, tmp_path: Path) -> None:
    """The second is told in one sentence, and the first goes on."""
    path, told = tmp_path / "c", []

    def second(progress: object) -> None:
        with pytest.raises(CheckpointError, match="another solve is saving its state there") as error:
            solve(problem, Sampling(), max_iterations=10, checkpoint=path)
        told.append(error)

    assert solve(problem, Sampling(), max_iterations=20, checkpoint=path, callbacks=[second]).iterations == 20
    assert len(told) == 2


def test_what_a_killed_solve_left_beside_is_cleared_away(problem: Problem, tmp_path: Path) -> None:
    """Only its own half-written files, by their names."""
    for name in ("c.4321.tmp", "c.mine.tmp", "d.4321.tmp"):
        (tmp_path / name).write_text("half")
    solve(problem, Sampling(), max_iterations=20, checkpoint=tmp_path / "c")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["c", "c.mine.tmp", "d.4321.tmp"]


def test_a_stop_before_the_first_boundary_loses_nothing(problem: Problem, tmp_path: Path) -> None:
    """A search that can be saved between windows only is then resumed from its beginning."""
    stopped = solve(problem, "dabp", max_iterations=60, checkpoint=tmp_path / "c", callbacks=[lambda progress: True])
    again = solve(problem, "dabp", max_iterations=60, checkpoint=tmp_path / "c", resume=True)
    assert stopped.cost is not None
    assert again.cost == solve(problem, "dabp", max_iterations=60).cost
    assert again.cost <= stopped.cost


def test_a_search_that_had_no_time_for_a_step_can_be_resumed(problem: Problem, tmp_path: Path) -> None:
    """Its beginning is saved: whoever asked for a checkpoint finds one."""
    solve(problem, Sampling(), max_iterations=0, checkpoint=tmp_path / "c")
    again = solve(problem, Sampling(), max_iterations=50, checkpoint=tmp_path / "c", resume=True)
    assert again.cost == solve(problem, Sampling(), max_iterations=50).cost
