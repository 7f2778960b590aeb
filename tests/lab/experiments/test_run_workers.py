"""The experiment's end of a worker: killed, closed, or not to be started; and what a worker prepares."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading

import psutil
import pytest

from dabp.errors import DabpError
from dabp.lab.experiments.experiment_plan import Limits, Run
from dabp.lab.experiments.run_workers import Preparation, Worker, WorkerClosedError, preparation_for
from tests.lab.experiments.small import SLOW, TRIVIAL, contents, make_plan, refuse, run_plan

MADE = {"family": "small-world", "parameters": {"domain": 3}, "seed": 0}
FILE = {"file": "x.wcsp", "sha256": "0"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals are of POSIX")
def test_a_killed_worker_is_replaced(tmp_path):
    """Kill -9 of a worker: its run is done again by a new one."""
    plan = make_plan(tmp_path, 20, TRIVIAL)
    killed = []

    def kill(state):
        if state.done in (3, 9):
            below = psutil.Process().children()  # other tests may have left processes, too
            worker = next(each for each in below if "dabp.lab.experiments.worker_process" in each.cmdline())
            killed.append(worker.pid)
            worker.send_signal(signal.SIGKILL)

    state = run_plan(plan, tmp_path / "out", jobs=2, progress=kill)
    assert len(killed) == 2
    assert (state.done, state.failed) == (20, 0)
    assert len(contents(tmp_path / "out")) == 20


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_a_closed_worker_runs_nothing(tmp_path, method):
    """Closed while a run is on, from another thread, and before the next one."""
    worker, run = Worker(Preparation(trust=["faults"]), method), make_plan(tmp_path, 1, SLOW).runs[0]
    threading.Timer(1.0, worker.close).start()
    for _ in range(2):
        with pytest.raises(WorkerClosedError):
            worker.run(run)


@pytest.mark.parametrize(("words", "start"), [("no process can be started", "popen"), ("nonsense", "import")])
def test_a_machine_that_cannot_run_anything_is_no_runs_failure(tmp_path, monkeypatch, words, start):
    """Without processes, or where the worker itself breaks, the experiment ends and records nothing."""
    if start == "popen":
        monkeypatch.setattr(subprocess, "Popen", refuse)
    else:
        (tmp_path / "psutil.py").write_text("raise RuntimeError('nonsense')\n", encoding="utf-8")
        monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]]))
    with pytest.raises(DabpError, match=words):
        run_plan(make_plan(tmp_path, 2, TRIVIAL), tmp_path / "out", jobs=2)
    assert contents(tmp_path / "out") == {}


def test_runs_have_one_thread_each(tmp_path, monkeypatch):
    """Whatever the user's own variables say; the others stay."""
    monkeypatch.setenv("OMP_NUM_THREADS", "8")
    monkeypatch.setenv("DABP_TEST", "kept")
    solver = '[[solvers]]\nsolver = "faults:Fault"\nparameters = { how = "environment" }\n'
    worker = Worker(Preparation(trust=["faults"]))
    summary = worker.run(make_plan(tmp_path, 1, solver).runs[0])[0][0]
    worker.close()
    assert summary["detail"] == "RuntimeError: 1 kept"


def run_of(solver: str, instance: dict[str, object], **parameters: object) -> Run:
    return Run(instance, solver, parameters, Limits(), 0, 0)


def test_each_solver_is_rehearsed_once_for_each_small_shape():
    """Not those with processes or threads, nor a class of the user's, nor a domain that would fill the memory."""
    runs = [run_of("dbp", MADE, damping=0.5), run_of("dbp", MADE), run_of("tabu", FILE)]
    runs += [run_of("toulbar2", MADE), run_of("auto", MADE), run_of("my:Own", MADE)]
    runs += [run_of("dbp", {"family": "random-cop", "parameters": {"domain": 10**6}, "seed": 0})]
    prepared = preparation_for(runs)
    assert [(each[0], each[2]) for each in prepared.rehearsals] == [("dbp", "small-world"), ("tabu", "random-cop")]
    assert {"dabp.formats", "dabp.lab.generators.small_world"} <= set(prepared.modules)
    assert not any("my" in module.split(".") for module in prepared.modules)
