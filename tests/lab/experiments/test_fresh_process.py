"""A new process for each run: the same results, nothing left behind, and no process that cannot start is a run's."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading

import psutil
import pytest

from dabp.errors import DabpError
from dabp.lab.experiments import local
from dabp.lab.experiments.fresh_process import FreshProcesses
from dabp.lab.experiments.preparation import Preparation
from dabp.lab.experiments.worker import WorkerDiedError
from tests.lab.experiments.small import TRIVIAL, contents, make_plan, refuse, run_plan, stop, wait_for

SLOW = '[[solvers]]\nsolver = "faults:Trivial"\nparameters = { pause = 20.0 }\n'


def test_results_are_those_of_the_systems_own_way(tmp_path, monkeypatch):
    """The same lines, times aside; and a run's CPU time is without that of its imports."""
    plan = make_plan(tmp_path, 3, TRIVIAL)
    run_plan(plan, tmp_path / "one", jobs=2)
    monkeypatch.setattr(local, "worker_for", FreshProcesses)
    run_plan(plan, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")
    for path in (tmp_path / "two" / "runs").iterdir():
        summary = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        assert 0 < summary["cpu"] < summary["wall"] + 1
        assert summary["peak_memory"] > 2**24


def test_an_interrupted_experiment_ends_its_runs(tmp_path, monkeypatch):
    """No process is left."""
    monkeypatch.setattr(local, "worker_for", FreshProcesses)
    before = {*psutil.Process().children(recursive=True)}
    with pytest.raises(KeyboardInterrupt):
        run_plan(make_plan(tmp_path, 1, TRIVIAL + SLOW), tmp_path / "out", jobs=2, progress=stop)
    wait_for(lambda: not {*psutil.Process().children(recursive=True)} - before)
    assert len(contents(tmp_path / "out")) == 1


def test_a_closed_worker_runs_nothing(tmp_path):
    """Closed while a run is on, from another thread, and before the next one."""
    worker, run = FreshProcesses(Preparation(trust=["faults"])), make_plan(tmp_path, 1, SLOW).runs[0]
    threading.Timer(1.0, worker.close).start()
    for _ in range(2):
        with pytest.raises(WorkerDiedError):
            worker.run(run)


@pytest.mark.parametrize(("words", "start"), [("no process can be started", "popen"), ("nonsense", "import")])
def test_a_machine_that_cannot_run_anything_is_no_runs_failure(tmp_path, monkeypatch, words, start):
    """Without processes, or where Python breaks before the run, the experiment ends with one sentence."""
    if start == "popen":
        monkeypatch.setattr(subprocess, "Popen", refuse)
    else:
        (tmp_path / "psutil.py").write_text("raise RuntimeError('nonsense')\n", encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    with pytest.raises(DabpError, match=words):
        FreshProcesses().run(make_plan(tmp_path, 1, TRIVIAL).runs[0])


EXPERIMENT = """
import sys
from pathlib import Path
from dabp.lab.experiments.fresh_process import FreshProcesses
from dabp.lab.experiments.plan import load_plan
from dabp.lab.experiments.preparation import Preparation
FreshProcesses(Preparation(trust=["faults"])).run(load_plan(Path(sys.argv[1])).runs[0])
"""


def test_a_killed_experiment_takes_its_run_along(tmp_path):
    """The run's process notices that its standard input has closed."""
    make_plan(tmp_path, 1, SLOW)
    experiment = subprocess.Popen([sys.executable, "-c", EXPERIMENT, str(tmp_path / "plan.toml")])
    wait_for(lambda: bool(psutil.Process(experiment.pid).children()))
    (run,) = psutil.Process(experiment.pid).children()
    wait_for(lambda: run.cpu_times().user > 0.1)
    experiment.kill()
    experiment.wait()
    wait_for(lambda: not run.is_running() or run.status() == psutil.STATUS_ZOMBIE)
