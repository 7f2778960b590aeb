"""One process at a time holds a lock, and a lock dies with its owner."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dabp.driver.file_lock import Lock

HOLDING = """
import sys, time
from pathlib import Path
from dabp.driver.file_lock import Lock
with Lock(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_lock_is_one_process_at_a_time_and_dies_with_it(tmp_path: Path) -> None:
    """Within a process as between two; what a killed one leaves hinders nobody and is cleared away."""
    path = tmp_path / "c"
    with Lock(path), pytest.raises(BlockingIOError), Lock(path):
        pass
    assert list(tmp_path.iterdir()) == []
    with subprocess.Popen([sys.executable, "-c", HOLDING, path], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "held\n"
        with pytest.raises(BlockingIOError), Lock(path):
            pass
        child.kill()
    with Lock(path):
        pass
    assert list(tmp_path.iterdir()) == []


def test_who_waits_gets_the_lock_when_it_is_free(tmp_path: Path) -> None:
    """Twenty additions by four threads, each a read and a write: none is lost."""
    total = tmp_path / "total"
    total.write_text("0", encoding="utf-8")

    def add() -> None:
        for _ in range(5):
            with Lock(total, wait=True):
                total.write_text(str(int(total.read_text(encoding="utf-8")) + 1), encoding="utf-8")

    adding = [threading.Thread(target=add) for _ in range(4)]
    for thread in adding:
        thread.start()
    for thread in adding:
        thread.join()
    assert total.read_text(encoding="utf-8") == "20"


def test_a_link_and_its_file_have_one_lock(tmp_path: Path) -> None:
    """Two names of one file are not two files."""
    real, link = tmp_path / "real", tmp_path / "link"
    real.touch()
    os.symlink(real, link)
    with Lock(real), pytest.raises(BlockingIOError), Lock(link):
        pass
