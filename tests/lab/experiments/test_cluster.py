"""Runs on a Dask cluster: lost workers, lost runs, and no scheduler."""

from __future__ import annotations

import os
import signal

import psutil
import pytest

from dabp.errors import DabpError
from dabp.lab.experiments.store import Results
from tests.lab.experiments.small import TRIVIAL, contents, make_plan, refuse, run_plan, stop, wait_for


def test_a_cluster_loses_a_worker_and_nothing_else(tmp_path):
    """On Dask, one of two workers killed: the same results as on one machine; and stopping ends what runs there."""
    import distributed

    plan = make_plan(tmp_path, 16, TRIVIAL)
    run_plan(plan, tmp_path / "calm", jobs=2)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
    ) as cluster:

        def kill(state):
            if state.done == 4:
                os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)

        state = run_plan(plan, tmp_path / "out", scheduler=cluster.scheduler_address, progress=kill)
        wait_for(lambda: not workers())
        slow = '[[solvers]]\nsolver = "faults:Trivial"\nsweep = { pause = [0.01, 20] }\n'
        with pytest.raises(KeyboardInterrupt):
            run_plan(make_plan(tmp_path, 2, slow), tmp_path / "cut", scheduler=cluster.scheduler_address, progress=stop)
        wait_for(lambda: not workers())
    assert (state.done, state.failed) == (16, 0)
    assert contents(tmp_path / "out") == contents(tmp_path / "calm")


def test_a_run_that_takes_its_machines_with_it_is_lost_and_the_rest_finish(tmp_path):
    """On Dask, after as many workers as the scheduler allows, the run is recorded and the others have their results."""
    import dask
    import distributed

    solvers = '[[solvers]]\nsolver = "faults:Fault"\nparameters = { how = "kill the machine" }\n' + TRIVIAL
    plan = make_plan(tmp_path, 2, solvers)
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1"
        ) as cluster,
    ):
        state = run_plan(plan, tmp_path / "out", scheduler=cluster.scheduler_address)
    assert state.done == 4
    reasons = [(o.run.label, o.summary.get("reason")) for o in Results(tmp_path / "out").outcomes(plan)]
    assert reasons.count(("faults:Fault", "lost")) == 2


def workers() -> list[int]:
    """Processes below this one that run runs."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "dabp.lab.experiments.worker_process" in process.cmdline():
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def test_no_scheduler_is_told(tmp_path, monkeypatch):
    """A wrong address is one sentence, not a trace of Dask's."""
    import distributed

    monkeypatch.setattr(distributed, "Client", refuse)
    with pytest.raises(DabpError, match="no Dask scheduler answers"):
        run_plan(make_plan(tmp_path, 1, TRIVIAL), tmp_path / "out", scheduler="tcp://127.0.0.1:1")
