"""Files are written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dabp import safe_files
from dabp.safe_files import replacing


def test_the_old_file_stays_until_the_new_one_is_whole(tmp_path: Path) -> None:
    """Also if writing fails; nothing is left beside it."""
    path = tmp_path / "answer"
    path.write_text("old")
    with replacing(path) as stream:
        stream.write("new é")
        assert path.read_text() == "old"
    assert path.read_text(encoding="utf-8") == "new é"
    with contextlib.suppress(RuntimeError), replacing(path, "wb") as stream:
        stream.write(b"half")
        raise RuntimeError
    assert path.read_text(encoding="utf-8") == "new é"
    assert [each.name for each in tmp_path.iterdir()] == ["answer"]


@pytest.mark.posix
def test_links_permissions_and_the_file_before_are_kept(tmp_path: Path) -> None:
    """A link goes on leading where it led; a file that others may read stays so; the old one can be kept."""
    real, link, old = tmp_path / "real", tmp_path / "link", tmp_path / "old"
    real.write_text("1")
    real.chmod(0o604)
    link.symlink_to(real)
    with replacing(link, previous=old) as stream:
        stream.write("2")
    assert link.is_symlink()
    assert (real.read_text(), old.read_text()) == ("2", "1")
    assert stat.S_IMODE(real.stat().st_mode) == 0o604


@pytest.mark.posix
def test_what_is_no_plain_file_is_written_as_it_is(tmp_path: Path) -> None:
    """A pipe or a device has no place to be renamed to."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        with replacing(pipe) as stream:
            stream.write("through")
        assert reader.communicate()[0] == b"through"
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    with replacing("/dev/null") as stream:
        stream.write("gone")


FULL = """
import resource, sys
from dabp.safe_files import replacing
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    with replacing(sys.argv[1]) as stream:
        stream.write("x" * 5000)
except OSError as error:
    print(error.strerror)
"""


@pytest.mark.posix
def test_a_full_disk_costs_neither_the_old_file_nor_space(tmp_path: Path) -> None:
    """Seen through a limit on the size of files: the error comes, the old file stays, no half one is left."""
    path = tmp_path / "answer"
    path.write_text("old")
    done = subprocess.run([sys.executable, "-c", FULL, path], capture_output=True, text=True, check=True)
    assert done.stdout == "File too large\n"
    assert [(each.name, each.read_text()) for each in tmp_path.iterdir()] == [("answer", "old")]


def test_a_rename_is_tried_again_while_the_file_is_in_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows refuses to rename a file that another program reads; it is refused for good after `PATIENCE`."""
    refusals = [PermissionError(13, "in use")] * 3
    rename = os.replace

    def busy(source: Path, target: Path) -> None:
        if refusals:
            raise refusals.pop()
        rename(source, target)

    monkeypatch.setattr(os, "replace", busy)
    path = tmp_path / "answer"
    with pytest.raises(PermissionError), replacing(path):
        pass
    monkeypatch.setattr(safe_files, "PATIENCE", 10.0)
    with replacing(path) as stream:
        stream.write("whole")
    assert [(each.name, each.read_text(encoding="utf-8")) for each in tmp_path.iterdir()] == [("answer", "whole")]
    assert not refusals
