"""Boards on which workers write what they know: the folder's; Dask's is tested with `solve_together`."""

from __future__ import annotations

import errno
import os
import pickle
from pathlib import Path

import numpy as np
import pytest

from dabp.cluster import board as boards
from dabp.cluster.board import LOOK_SECONDS, FolderBoard
from dabp.driver.stopping import Progress


def _progress(cost, bound=None):
    return Progress(cost=cost, assignment=np.array([int(cost), 1]), bound=bound)


def test_workers_see_each_other_and_the_host_sees_all(tmp_path):
    """Each hears of the others what is new, once, and never of itself."""
    board = FolderBoard(tmp_path)
    one, two, three = (pickle.loads(pickle.dumps(board.place(worker))) for worker in range(3))
    assert one.exchange(_progress(5.0, 1.0)) == []
    assert [known.assignment.tolist() for known in two.exchange(_progress(7.0))] == [[5, 1]]
    assert sorted(known.assignment[0] for known in three.exchange(_progress(9.0))) == [5, 7]
    told = board.gather()
    assert sorted(known.assignment[0] for known in told) == [5, 7, 9]
    assert {known.bound for known in told} == {1.0, None}
    assert board.gather() == []
    assert one.exchange(_progress(4.0)) == [], f"not asked again within {LOOK_SECONDS} s"
    board.close()
    assert not list(tmp_path.iterdir()), "nothing is left behind"


def test_the_host_ends_all_and_so_does_its_absence(tmp_path):
    """By its word, and by its folder being gone."""
    board = FolderBoard(tmp_path)
    one, two = board.place(0), board.place(1)
    one.exchange(_progress(5.0))
    assert not one.ended
    board.end()
    two.exchange(_progress(5.0))
    assert two.ended
    board.close()
    late = board.place(2)
    assert late.exchange(_progress(3.0)) == []
    assert late.ended


@pytest.mark.parametrize("where", ["at once", "while writing"])
def test_a_full_disk_ends_no_search_and_is_told_later(tmp_path, monkeypatch, where):
    """What could not be written is written at the next look, and nothing half is left."""

    def full(*arguments, **options):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(boards, "LOOK_SECONDS", 0.0)
    board = FolderBoard(tmp_path)
    one = board.place(0)
    with monkeypatch.context() as disk:
        disk.setattr(os, "fsync" if where == "at once" else "replace", full)
        assert one.exchange(_progress(5.0)) == []
        assert board.gather() == []
        disk.setattr(Path, "touch", full)
        board.end()
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]
    one.exchange(_progress(5.0))
    assert [known.assignment.tolist() for known in board.gather()] == [[5, 1]]
    board.close()


def test_what_is_none_of_ours_is_left(tmp_path):
    """Files that cannot be read, a folder and a dead link by the name of one: the others are heard."""
    board = FolderBoard(tmp_path)
    [folder] = tmp_path.iterdir()
    (folder / "8.known").write_bytes(b"nonsense")
    (folder / "9.known").mkdir()
    (folder / "7.known").symlink_to(tmp_path / "nowhere")
    one, two = board.place(0), board.place(1)
    one.exchange(_progress(5.0))
    assert [known.assignment.tolist() for known in two.exchange(_progress(6.0))] == [[5, 1]]
    assert len(board.gather()) == 2
    board.close()


def test_a_file_that_cannot_be_read_now_is_read_later(tmp_path, monkeypatch):
    """Windows refuses to open a file while it is being replaced."""
    board = FolderBoard(tmp_path)
    board.place(0).exchange(_progress(5.0))
    with monkeypatch.context() as patch:
        patch.setattr(Path, "read_bytes", lambda _: (_ for _ in ()).throw(PermissionError(errno.EACCES, "in use")))
        assert board.gather() == []
    assert [known.assignment.tolist() for known in board.gather()] == [[5, 1]]


def test_workers_end_though_the_folder_cannot_be_removed(tmp_path, monkeypatch):
    """Windows keeps a folder while a worker has a file of it open, but may have removed the host's word."""
    board = FolderBoard(tmp_path)
    worker = board.place(0)
    monkeypatch.setattr(boards.shutil, "rmtree", lambda *arguments, **options: None)
    board.close()
    worker.exchange(_progress(5.0))
    assert worker.ended
