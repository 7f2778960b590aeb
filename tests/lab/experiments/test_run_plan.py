"""Running plans: what is there is skipped, what was killed goes on, what is wrong is told before anything runs."""

from __future__ import annotations

import subprocess
import sys

import psutil
import pytest

from dabp.errors import ParameterError
from dabp.lab.experiments.store import Results
from tests.lab.experiments.small import SLOW, TRIVIAL, contents, make_plan, run_plan, stop, wait_for


def test_finished_runs_are_skipped_and_failures_retried_on_request(tmp_path):
    """A second call runs nothing, unless failed runs are asked for."""
    plan = make_plan(tmp_path, 3, TRIVIAL + '[[solvers]]\nsolver = "faults:Fault"\nparameters = { how = "raise" }\n')
    assert run_plan(plan, tmp_path / "out", jobs=2).done == 6
    again = run_plan(plan, tmp_path / "out")
    assert (again.done, again.skipped, again.failed_before) == (0, 6, 3)
    retried = run_plan(plan, tmp_path / "out", retry_failed=True)
    assert (retried.done, retried.failed, retried.skipped) == (3, 3, 3)


def test_a_killed_experiment_goes_on_where_it_stopped(tmp_path):
    """Kill -9 in the middle: no run left behind, nothing corrupt, and resuming gives what an undisturbed one gives."""
    plan = make_plan(tmp_path, 30, TRIVIAL)
    run_plan(plan, tmp_path / "calm", jobs=2)
    main = [sys.executable, "-c", "from dabp.cli.experiment import app; app()"]
    command = [
        *main,
        "run",
        str(tmp_path / "plan.toml"),
        "-o",
        str(tmp_path / "out"),
        "--jobs",
        "2",
        "--trust",
        "faults",
    ]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    runs = tmp_path / "out" / "runs"
    wait_for(lambda: runs.is_dir() and len(list(runs.glob("*.jsonl"))) >= 5)
    servers = psutil.Process(process.pid).children(recursive=True)
    process.kill()
    process.wait()
    assert 5 <= len(contents(tmp_path / "out")) < 30
    wait_for(lambda: not any(server.is_running() and server.status() != psutil.STATUS_ZOMBIE for server in servers))
    assert run_plan(plan, tmp_path / "out", jobs=2).skipped >= 5
    assert contents(tmp_path / "out") == contents(tmp_path / "calm")
    assert len(list(runs.iterdir())) == 30


def test_an_interrupted_experiment_ends_its_runs(tmp_path):
    """After a Ctrl-C in the callback no process is left."""
    before = {*psutil.Process().children(recursive=True)}
    with pytest.raises(KeyboardInterrupt):
        run_plan(make_plan(tmp_path, 2, TRIVIAL + SLOW), tmp_path / "out", jobs=2, progress=stop)
    wait_for(lambda: not {*psutil.Process().children(recursive=True)} - before)
    assert len(contents(tmp_path / "out")) == 1


def test_bad_calls_are_told(tmp_path):
    """No jobs; an empty folder. Names and parameters that do not exist are those of `checking`."""
    with pytest.raises(ParameterError, match="at least 1"):
        run_plan(make_plan(tmp_path, 1, TRIVIAL), tmp_path / "out", jobs=0)
    with pytest.raises(ParameterError, match="holds no results"):
        Results(tmp_path / "nowhere")
