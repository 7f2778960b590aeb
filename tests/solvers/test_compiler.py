"""Processes that compile: every job is handed out once, and one that fails takes nothing else with it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from dabp.kernels import cache
from dabp.solvers import compiler, warming

PRETENDING = """
import sys
from dabp.solvers.warming import _marker
for line in sys.stdin:
    for job in line.split():
        if job == sys.argv[1]:
            sys.exit(1)
        with open(_marker(job), "a") as stream:
            stream.write("done ")
"""
"""Does what `main` does but for the compiling, and dies of one job."""


def _made(monkeypatch: pytest.MonkeyPatch, folder: Path, fatal: str, processes: int) -> tuple[list[str], list[int]]:
    (folder / "ready").mkdir(exist_ok=True)
    monkeypatch.setattr(cache, "folder", lambda: folder)
    monkeypatch.setattr(compiler, "COMMAND", [sys.executable, "-c", PRETENDING, fatal])
    told: list[int] = []
    failed = compiler.make_all(lambda done, whole: told.append(done), processes)
    return failed, told


@pytest.mark.parametrize("processes", [1, 2, 50])
def test_every_job_is_handed_out_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, processes: int) -> None:
    """To however many processes, and progress ends at all of them."""
    failed, told = _made(monkeypatch, tmp_path, "", processes)
    assert failed == []
    assert told == sorted(told)
    assert told[-1] == len(warming.JOBS)
    assert {warming._marker(job).read_text() for job in warming.JOBS} == {"done "}


def test_the_other_chains_are_made_when_one_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By another process; what comes after the failed job in its chain is told as missing with it."""
    first, fatal, *rest = next(chain for chain in warming.CHAINS if len(chain) > 2)
    failed, _ = _made(monkeypatch, tmp_path, fatal, 1)
    assert set(failed) == {fatal, *rest}
    assert warming.ready(first)


def test_what_is_there_is_not_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second time after a failure, only what is missing is handed out."""
    fatal = warming.CHAINS[-1][0]
    assert _made(monkeypatch, tmp_path, fatal, 2)[0] == [*warming.CHAINS[-1]]
    assert _made(monkeypatch, tmp_path, "", 2)[0] == []
    assert {warming._marker(job).read_text() for job in warming.JOBS} == {"done "}
