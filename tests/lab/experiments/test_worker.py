"""Which kind of worker a system has."""

from __future__ import annotations

import sys

import pytest

from dabp.lab.experiments.preparation import Preparation
from dabp.lab.experiments.worker import THREAD_VARIABLES, environment, worker_for


@pytest.mark.parametrize(
    ("platform", "kind"), [("linux", "ForkClient"), ("darwin", "FreshProcesses"), ("win32", "FreshProcesses")]
)
def test_only_linux_forks(monkeypatch: pytest.MonkeyPatch, platform: str, kind: str) -> None:
    """MacOS's libraries do not survive a fork, Windows has none."""
    if sys.platform != "linux" and platform == "linux":
        pytest.skip("the fork client imports on Linux only")
    monkeypatch.setattr(sys, "platform", platform)
    assert type(worker_for(Preparation())).__name__ == kind


def test_runs_have_one_thread_each(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the user's own variables say; the others stay."""
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    monkeypatch.setenv("DABP_TEST", "kept")
    assert {environment()[name] for name in THREAD_VARIABLES} == {"1"}
    assert environment()["DABP_TEST"] == "kept"
