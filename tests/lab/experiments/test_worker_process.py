"""A run watched by its worker, forked or spawned: limits and failures are reported, and nothing is left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import psutil
import pytest

from dabp.lab.experiments import run_workers as workers
from dabp.lab.experiments.run_workers import ONE_THREAD, Preparation
from dabp.lab.experiments.store import Results
from dabp.lab.experiments.worker_process import prepare
from tests.lab.experiments.small import SLOW, TRIVIAL, contents, make_plan, run_plan, wait_for

FAULTS = {
    "allocate": ("memory", ""),
    "hang": ("timeout", "limits = { wall = 1 }\n"),
    "crash": ("crash", ""),
    "raise": ("error", ""),
    "told to stop": ("crash", ""),
    "tensors": ("memory", ""),
}
"""How a run misbehaves, the reason that is recorded for it, and its limits."""


@pytest.fixture(params=["fork", "spawn"])
def method(request, monkeypatch):
    """How runs get a process: Linux's way, and that of all other systems, which works on Linux, too."""
    if request.param == "fork" and sys.platform != "linux":
        pytest.skip("only Linux forks")
    monkeypatch.setattr(workers, "START_METHOD", request.param)
    return request.param


@pytest.mark.usefixtures("method")
def test_faults_are_reported_and_the_rest_finish(tmp_path):
    """A run that allocates, hangs, crashes or raises is recorded with its reason; its neighbours have their results."""
    solvers = TRIVIAL + "".join(
        f'[[solvers]]\nlabel = "{how}"\nsolver = "faults:Fault"\nparameters = {{ how = "{how}" }}\n{limits}'
        for how, (_, limits) in FAULTS.items()
    )
    plan = make_plan(tmp_path, 2, solvers, 'iterations = 50\nwall = 60\nmemory = "300 MB"')
    state = run_plan(plan, tmp_path / "out", jobs=2)
    assert (state.done, state.failed) == (14, 12)
    outcomes = Results(tmp_path / "out").outcomes(plan)
    reasons = {(each.run.label, each.summary.get("reason")) for each in outcomes}
    assert reasons == {("trivial", None), *((how, reason) for how, (reason, _) in FAULTS.items())}
    details = {each.run.label: each.summary.get("detail", "") for each in outcomes}
    assert ("SIGSEGV" if sys.platform != "win32" else "exit code 0xc0000005") in details["crash"]
    assert "broken on purpose" in details["raise"]


def test_results_do_not_depend_on_workers(tmp_path, monkeypatch):
    """The same lines, times aside, of one worker and of two, spawned and forked; CPU time is without imports."""
    plan = make_plan(tmp_path, 3, TRIVIAL)
    run_plan(plan, tmp_path / "one", jobs=1)
    run_plan(plan, tmp_path / "two", jobs=2)
    monkeypatch.setattr(workers, "START_METHOD", "spawn")
    run_plan(plan, tmp_path / "three", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two") == contents(tmp_path / "three")
    for path in (tmp_path / "three" / "runs").iterdir():
        summary = json.loads(path.read_text(encoding="utf-8").splitlines()[0])
        assert 0 < summary["cpu"] < summary["wall"] + 1
        assert summary["peak_memory"] > 2**24


EXPERIMENT = """
import sys
from pathlib import Path
from dabp.lab.experiments.experiment_plan import load_plan
from dabp.lab.experiments.run_workers import Preparation, Worker
Worker(Preparation(trust=["faults"]), sys.argv[2]).run(load_plan(Path(sys.argv[1])).runs[0])
"""


@pytest.mark.parametrize("killed", ["experiment", "worker"])
def test_what_is_killed_takes_its_run_along(tmp_path, method, killed):
    """A worker notices that its parent is gone, and the run's process that its worker is gone."""
    make_plan(tmp_path, 1, SLOW)
    experiment = psutil.Popen([sys.executable, "-c", EXPERIMENT, str(tmp_path / "plan.toml"), method])
    wait_for(lambda: len(experiment.children(recursive=True)) >= 2)
    below = experiment.children(recursive=True)
    if killed == "worker":
        (worker,) = experiment.children()
        below = worker.children()[-1:]
        worker.kill()
        wait_for(lambda: not any(map(runs, below)))
    experiment.kill()
    experiment.wait()
    wait_for(lambda: not any(map(runs, below)))


def runs(process: psutil.Process) -> bool:
    """Whether a process is neither gone nor a zombie."""
    return process.is_running() and process.status() != psutil.STATUS_ZOMBIE


def test_what_cannot_be_prepared_is_left_to_the_run():
    """A missing module and parameters that do not fit end nothing here."""
    prepare(Preparation(["no.such.module"], [("dbp", {"damping": 7}, "random-cop", {"variables": 3})]))


def test_a_rehearsal_starts_no_thread():
    """A process with threads must not fork: after preparing, there is one."""
    code = (
        "import psutil\nfrom dabp.lab.experiments.worker_process import Preparation, prepare\n"
        "prepare(Preparation(['dabp.driver.solve'], [('tabu', {}, 'random-cop', {'variables': 6, 'domain': 2})]))\n"
        "print(psutil.Process().num_threads())"
    )
    environment = {**os.environ, **ONE_THREAD}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.strip() == "1"
