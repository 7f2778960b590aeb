"""Running plans: limits, failures, resuming after kills, and the same results whoever runs them."""

from __future__ import annotations

import dataclasses
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from dabp.errors import DabpError, ParameterError
from dabp.experiments.plan import Plan, load_plan
from dabp.experiments.preparation import Preparation
from dabp.experiments.run import run_plan
from dabp.experiments.store import Results, ResultsFolder
from dabp.experiments.table import rows
from dabp.experiments.worker import Worker

VARYING = {"runtime", "generation_time", "wall", "cpu", "peak_memory", "time"}
"""What may differ between two runs of the same run."""


def make_plan(folder: Path, seeds: int, solvers: str, limits: str = "iterations = 50\nwall = 60") -> Plan:
    path = folder / "plan.toml"
    path.write_text(
        f'seed = 5\n[limits]\n{limits}\n[[instances]]\nlabel = "tiny"\nfamily = "random-cop"\nseeds = {seeds}\n'
        f"parameters = {{ variables = 6, domain = 3, density = 0.5 }}\n{solvers}"
    )
    return load_plan(path)


FAULTS = (
    ("allocate", ""),
    ("hang", "limits = { wall = 1 }\n"),
    ("crash", ""),
    ("raise", ""),
    ("told to stop", ""),
    ("tensors", ""),
)
TRIVIAL = '[[solvers]]\nlabel = "trivial"\nsolver = "faults:Trivial"\nparameters = { pause = 0.01 }\n'


def contents(folder: Path) -> dict[str, list]:
    """Every result, times aside; fails on a corrupt line."""
    found = {}
    for path in (folder / "runs").glob("*.jsonl"):
        rows = [json.loads(line) for line in path.read_text().splitlines()]
        assert rows[0]["key"] == path.stem
        found[path.stem] = [{k: v for k, v in row.items() if k not in VARYING} for row in rows]
    return found


def test_faults_are_reported_and_the_rest_finish(tmp_path):
    """A run that allocates, hangs, crashes or raises says so; its neighbours have their results."""
    solvers = TRIVIAL + "".join(
        f'[[solvers]]\nlabel = "{how}"\nsolver = "faults:Fault"\nparameters = {{ how = "{how}" }}\n{limits}'
        for how, limits in FAULTS
    )
    plan = make_plan(tmp_path, 2, solvers, 'iterations = 50\nwall = 60\nmemory = "300 MB"')
    state = run_plan(plan, tmp_path / "out", jobs=2)
    assert (state.done, state.failed) == (14, 12)
    results = Results(tmp_path / "out")
    reasons = {(o.run.label, o.summary.get("reason")) for o in results.outcomes(results.plan())}
    assert reasons == {
        ("trivial", None),
        ("allocate", "memory"),
        ("hang", "timeout"),
        ("crash", "crash"),
        ("raise", "error"),
        ("told to stop", "crash"),
        ("tensors", "memory"),
    }
    details = {o.run.label: o.summary.get("detail", "") for o in results.outcomes(results.plan())}
    assert "SIGSEGV" in details["crash"]
    assert "broken on purpose" in details["raise"]


def test_finished_runs_are_skipped_and_failures_retried_on_request(tmp_path):
    """A second call runs nothing, unless failed runs are asked for."""
    plan = make_plan(tmp_path, 3, TRIVIAL + '[[solvers]]\nsolver = "faults:Fault"\nparameters = { how = "raise" }\n')
    assert run_plan(plan, tmp_path / "out", jobs=2).done == 6
    again = run_plan(plan, tmp_path / "out")
    assert (again.done, again.skipped, again.failed_before) == (0, 6, 3)
    retried = run_plan(plan, tmp_path / "out", retry_failed=True)
    assert (retried.done, retried.failed, retried.skipped) == (3, 3, 3)


def test_results_do_not_depend_on_the_number_of_workers(tmp_path):
    """The same lines, times aside, from one job and from two."""
    plan = make_plan(tmp_path, 6, TRIVIAL)
    run_plan(plan, tmp_path / "one", jobs=1)
    run_plan(plan, tmp_path / "two", jobs=2)
    assert contents(tmp_path / "one") == contents(tmp_path / "two")


def test_a_killed_experiment_goes_on_where_it_stopped(tmp_path):
    """Kill -9 in the middle: no run left behind, nothing corrupt, and resuming gives what an undisturbed one gives."""
    plan = make_plan(tmp_path, 30, TRIVIAL)
    run_plan(plan, tmp_path / "calm", jobs=2)
    main = [sys.executable, "-c", "from dabp.cli.experiment import app; app()"]
    command = [*main, "run", str(tmp_path / "plan.toml"), "-o", str(tmp_path / "out"), "--jobs", "2"]
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
    worker = Worker(Preparation(["threaded"]))
    lines = worker.run(make_plan(tmp_path, 1, TRIVIAL).runs[0])
    worker.close()
    assert json.loads(lines.splitlines()[0])["state"] == "done"
    assert worker.preparation == Preparation()


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


def refuse(*args, **kwargs):
    raise OSError(11, "Resource temporarily unavailable")


def test_where_results_were_made_stays_on_record(tmp_path):
    """Looking again changes nothing; going on adds a session."""
    small, large = make_plan(tmp_path, 1, TRIVIAL), make_plan(tmp_path, 2, TRIVIAL)
    for plan, command in ((small, "first"), (small, "look"), (large, "second"), (large, "look again")):
        run_plan(plan, tmp_path / "out", command=[command])
    environment = Results(tmp_path / "out").environment()
    assert environment["command"] == ["second"]
    assert [session["command"] for session in environment["earlier"]] == [["first"]]


def test_plans_that_share_a_folder_and_a_label_are_told_apart(tmp_path):
    """The same label for different parameters is no mean of both."""
    for name, steps in (("a", 1), ("b", 30)):
        text = f'[[solvers]]\nlabel = "S"\nsolver = "faults:Trivial"\nparameters = {{ steps = {steps} }}\n'
        plan = make_plan(tmp_path, 2, text + TRIVIAL)
        run_plan(dataclasses.replace(plan, name=name), tmp_path / "out", jobs=2)
    results = Results(tmp_path / "out")
    assert results.plan().labels == ["S [a]", "trivial", "S [b]"]
    table = {row.label: row for row in rows(results, results.plan())}
    assert [table[label].runs for label in ("S [a]", "S [b]", "trivial")] == [2, 2, 2]
    assert table["S [b]"].cost < table["S [a]"].cost


def test_an_interrupted_experiment_ends_its_runs(tmp_path):
    """What goes up in the callback comes down: no process is left."""
    plan = make_plan(tmp_path, 4, '[[solvers]]\nsolver = "faults:Trivial"\nparameters = { pause = 0.3 }\n')

    with pytest.raises(KeyboardInterrupt):
        run_plan(plan, tmp_path / "out", jobs=2, progress=stop)
    wait_for(lambda: not psutil.Process().children(recursive=True))
    assert len(contents(tmp_path / "out")) == 1


def test_a_folder_has_one_writer(tmp_path):
    """Two experiments in one folder would count each other's half-written files."""
    plan = make_plan(tmp_path, 1, TRIVIAL)
    with ResultsFolder(tmp_path / "out").held(), pytest.raises(ParameterError, match="in use"):
        run_plan(plan, tmp_path / "out")


def test_bad_calls_are_told(tmp_path):
    """No jobs; names and parameters that do not exist, before anything runs; an empty folder."""
    for solver, words in (
        ('solver = "dpb"', "did you mean 'dbp'"),
        ('solver = "dbp"\nparameters = { dumping = 1 }', "did you mean 'damping'"),
        ('solver = "dbp"\nparameters = { damping = 2 }', "damping"),
    ):
        with pytest.raises(ParameterError, match=words):
            run_plan(make_plan(tmp_path, 1, f"[[solvers]]\n{solver}\n"), tmp_path / "out")
    plan = make_plan(tmp_path, 1, TRIVIAL)
    wrong = dataclasses.replace(plan.runs[0], instance={**plan.runs[0].instance, "parameters": {"variable": 3}})
    with pytest.raises(ParameterError, match="did you mean 'variables'"):
        run_plan(dataclasses.replace(plan, runs=(wrong,)), tmp_path / "out")
    with pytest.raises(ParameterError, match="did you mean 'cost-time'"):
        run_plan(dataclasses.replace(plan, figures=("cost-tiem",)), tmp_path / "out")
    with pytest.raises(ParameterError, match="at least 1"):
        run_plan(plan, tmp_path / "out", jobs=0)
    with pytest.raises(ParameterError, match="holds no results"):
        Results(tmp_path / "nowhere")


def test_a_packed_file_says_the_same(tmp_path, results):
    """The compact file that is committed or sent carries plans, summaries and traces."""
    count = results.pack(tmp_path / "packed.jsonl.xz")
    packed = Results(tmp_path / "packed.jsonl.xz")
    assert count == 36
    assert packed.plan() == results.plan()
    assert packed.outcomes(packed.plan()) == results.outcomes(results.plan())
    key = results.plan().runs[0].key
    assert packed.trace(key) == results.trace(key) != []
    (tmp_path / "bad.jsonl.xz").write_bytes((tmp_path / "packed.jsonl.xz").read_bytes()[:-200])
    with pytest.raises(ParameterError, match="damaged"):
        Results(tmp_path / "bad.jsonl.xz")


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
        wait_for(lambda: not fork_servers())
        slow = '[[solvers]]\nsolver = "faults:Trivial"\nsweep = { pause = [0.01, 20] }\n'
        with pytest.raises(KeyboardInterrupt):
            run_plan(make_plan(tmp_path, 2, slow), tmp_path / "cut", scheduler=cluster.scheduler_address, progress=stop)
        wait_for(lambda: not fork_servers())
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


def stop(state):
    if state.done:
        raise KeyboardInterrupt


def fork_servers() -> list[int]:
    """Processes below this one that run runs."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if "dabp.experiments.fork_server" in process.cmdline():
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


def wait_for(condition, seconds=20.0):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)
