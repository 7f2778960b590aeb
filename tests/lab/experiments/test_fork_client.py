"""The experiment's end of a fork server: killed, threaded, or not to be started."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys

import psutil
import pytest

from dabp.errors import DabpError
from dabp.lab.experiments.fork_client import ForkClient
from dabp.lab.experiments.preparation import Preparation
from tests.lab.experiments.small import TRIVIAL, contents, make_plan, refuse, run_plan

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the fork server is for Linux")


def test_a_killed_worker_is_replaced(tmp_path):
    """Kill -9 of a fork server: its run is done again by a new one."""
    plan = make_plan(tmp_path, 20, TRIVIAL)
    killed = []

    def kill(state):
        if state.done in (3, 9):
            server = psutil.Process().children()[0]
            killed.append(server.pid)
            server.send_signal(signal.SIGKILL)

    state = run_plan(plan, tmp_path / "out", jobs=2, progress=kill)
    assert len(killed) == 2
    assert (state.done, state.failed) == (20, 0)
    assert len(contents(tmp_path / "out")) == 20


def test_a_server_with_threads_prepares_nothing(tmp_path, monkeypatch):
    """Forking beside threads can deadlock: a module that starts one is left to the run that needs it."""
    (tmp_path / "threaded.py").write_text(
        "import threading, time\nthreading.Thread(target=time.sleep, args=(60,), daemon=True).start()\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    worker = ForkClient(Preparation(["threaded"], trust=["faults"]))
    lines = worker.run(make_plan(tmp_path, 1, TRIVIAL).runs[0])
    worker.close()
    assert json.loads(lines.splitlines()[0])["state"] == "done"
    assert worker.preparation == Preparation(trust=["faults"])


@pytest.mark.parametrize(("words", "start"), [("no process can be started", "popen"), ("nonsense", "import")])
def test_a_machine_that_cannot_run_anything_is_no_runs_failure(tmp_path, monkeypatch, words, start):
    """Without processes, or where the server itself breaks, the experiment ends and records nothing."""
    if start == "popen":
        monkeypatch.setattr(subprocess, "Popen", refuse)
    else:
        (tmp_path / "psutil.py").write_text("raise RuntimeError('nonsense')\n")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    with pytest.raises(DabpError, match=words):
        run_plan(make_plan(tmp_path, 2, TRIVIAL), tmp_path / "out", jobs=2)
    assert contents(tmp_path / "out") == {}
