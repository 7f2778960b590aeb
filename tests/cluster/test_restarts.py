"""Restarts over executors: the best of them, whoever runs them, within the time given."""

from __future__ import annotations

import concurrent.futures
import dataclasses
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import pytest

import dabp
from dabp.cluster.restarts import restart_seeds, solve_restarts
from dabp.compiling import compiling
from dabp.errors import ParameterError, SolverError
from dabp.solvers.status import Status

sys.path.insert(0, str(Path(__file__).parents[1] / "lab" / "experiments"))

from faults import Draws, Fault, Trivial


@pytest.fixture(scope="module")
def problem():
    return dabp.generate("random-cop", variables=10, domain=4, density=0.4, seed=1)


def test_the_best_of_all_restarts_comes_back(problem):
    """Against solving each seed by itself; the executor changes nothing."""
    costs = [dabp.solve(problem, Trivial(), seed=seed).cost for seed in restart_seeds(3, 6)]
    with ThreadPoolExecutor(2) as executor:
        result = solve_restarts(problem, Trivial(), restarts=6, executor=executor, seed=3)
    assert result.cost == min(costs)
    assert (result.iterations, result.seed, result.status) == (18, 3, Status.CONVERGED)
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=spawn) as executor:
        again = solve_restarts(problem, Trivial(), restarts=6, executor=executor, seed=3)
    assert again.assignment.tolist() == result.assignment.tolist()


def test_what_a_restart_does_not_take_is_refused(problem):
    """Files and callbacks stay with single solves; a mistyped option is told before anything runs."""
    with ThreadPoolExecutor(1) as executor:
        for option in ("checkpoint", "callbacks", "max_iteration"):
            with pytest.raises(ParameterError, match=f"has no argument '{option}'"):
                solve_restarts(problem, Trivial(), restarts=2, executor=executor, **{option: None})


def test_one_restart_is_a_plain_solve(problem):
    """The first restart has the seed itself."""
    with ThreadPoolExecutor(1) as executor:
        result = solve_restarts(problem, Trivial(), restarts=1, executor=executor, seed=5)
    assert result.assignment.tolist() == dabp.solve(problem, Trivial(), seed=5).assignment.tolist()
    assert restart_seeds(5, 3)[0] == 5
    assert len(set(restart_seeds(5, 100))) == 100


def test_the_time_is_for_all_of_them(problem):
    """One worker, many slow restarts: those that come too late are skipped."""
    slow = Trivial(steps=1000, pause=0.01)
    with ThreadPoolExecutor(1) as executor:
        result = solve_restarts(problem, slow, restarts=20, executor=executor, time_limit=0.5)
    assert result.iterations < 1000, "not even one had time to end by itself"
    assert result.cost is not None
    assert any("of 20 restarts ended" in note for note in result.notes)


def test_workers_that_start_slowly_still_answer(problem):
    """The time is up before any restart begins: the first guesses all the same."""
    with ThreadPoolExecutor(1) as executor:
        executor.submit(time.sleep, 0.3)
        result = solve_restarts(problem, Trivial(steps=1000), restarts=3, executor=executor, time_limit=0.05)
    assert (result.status, result.iterations, result.notes) == (Status.LIMIT, 0, ("1 of 3 restarts ended",))
    assert result.feasible


def test_a_lost_worker_loses_only_its_restart(problem):
    """A pool that breaks gives the rest; if all are lost there is an error, not an empty answer."""

    class Breaking(ThreadPoolExecutor):
        def submit(self, function, *arguments):
            if arguments[2] == restart_seeds(0, 3)[1]:
                lost = concurrent.futures.Future()
                lost.set_exception(OSError("worker killed"))
                return lost
            return super().submit(function, *arguments)

    with Breaking(1) as executor:
        result = solve_restarts(problem, Trivial(), restarts=3, executor=executor)
    assert any("worker killed" in note for note in result.notes)
    with ThreadPoolExecutor(1) as executor, pytest.raises(SolverError, match="broken on purpose"):
        solve_restarts(problem, Fault(how="raise"), restarts=2, executor=executor)
    for count in (0, 10**9, None):
        with pytest.raises(ParameterError, match="at least 1"):
            solve_restarts(problem, Trivial(), restarts=count, executor=executor)


def test_mistakes_are_those_of_a_single_solve(problem):
    """The same sentences as without an executor."""
    for mistake in ({"seed": -1}, {"time_limit": -1.0}, {"time_limit": float("nan")}, {"max_iterations": -1}):
        with pytest.raises(ParameterError) as single:
            dabp.solve(problem, Trivial(), **mistake)
        with ThreadPoolExecutor(1) as executor, pytest.raises(ParameterError) as spread:
            dabp.solve_restarts(problem, Trivial(), restarts=2, executor=executor, **mistake)
        assert str(single.value) == str(spread.value)


@pytest.fixture
def _interruptible():
    """Ctrl-C raises as in any program; workers of the test runner ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_ends_threads_and_keeps_their_answers(problem):
    """Threads see no signal: they are told, what has not begun is not begun, and the best so far is the answer."""
    slow = Trivial(steps=3000, pause=0.01)
    with ThreadPoolExecutor(2) as executor:
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        result = dabp.solve_restarts(problem, slow, restarts=4, executor=executor)
    assert result.iterations < 3000, "none went on to its end"
    assert (result.status, result.solver) == (Status.INTERRUPTED, "Trivial")
    assert result.cost is not None
    assert result.cost <= dabp.solve(problem, slow, seed=0, max_iterations=1).cost
    assert "2 of 4 restarts ended" in result.notes


INTERRUPTED = """
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
import dabp
from faults import Draws, Trivial

class Telling(Draws):
    def step(self):
        if self.left == 2990:
            print("started", flush=True)
        return super().step()

class Slow(Trivial):
    def start(self, problem, *, seed, budget, initial=None):
        return Telling(problem, seed, 3000, 0.01)

problem = dabp.generate("random-cop", variables=10, domain=4, density=0.4, seed=1)
with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("fork")) as executor:
    result = dabp.solve_restarts(problem, Slow(), restarts=4, executor=executor)
first = dabp.solve(problem, Trivial(steps=1)).cost
print(result.status.value, result.cost <= first, result.notes[0])
"""


@pytest.mark.posix
def test_an_interrupt_of_the_terminal_reaches_worker_processes():
    """They have the signal too: theirs are collected, and the pool's next restart is not begun."""
    faults = str(Path(__file__).parents[1] / "lab" / "experiments")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([faults, *sys.path])}
    command = [sys.executable, "-c", INTERRUPTED]
    child = subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    try:
        assert child.stdout is not None
        assert child.stdout.readline() == "started\n"
        os.killpg(child.pid, signal.SIGINT)
        output, _ = child.communicate(timeout=20)
    finally:
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
    assert output == "INTERRUPTED True 1 of 4 restarts ended\n"


@pytest.mark.usefixtures("_interruptible")
def test_an_interrupt_without_an_answer_says_so(problem):
    """Nothing has begun: no cost, and the solver is still named."""

    class Busy(concurrent.futures.Executor):
        def submit(self, function, *arguments):
            return concurrent.futures.Future()

    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    result = dabp.solve_restarts(problem, "tabu", restarts=2, executor=Busy())
    assert (result.status, result.cost, result.solver) == (Status.INTERRUPTED, None, "tabu")


def test_a_proof_ends_the_threads_that_still_search(problem):
    """Nobody waits for what cannot be better."""

    class Proof(Draws):
        def step(self):
            return dataclasses.replace(super().step(), finished=Status.OPTIMAL)

    class Proving(Trivial):
        def start(self, problem, *, seed, budget, initial=None):
            return Draws(problem, seed, 3000, 0.01) if seed == 3 else Proof(problem, seed, 1, 0.2)

    with ThreadPoolExecutor(2) as executor:
        result = solve_restarts(problem, Proving(), restarts=2, executor=executor, seed=3)
    assert result.iterations < 3000, "the other did not go on to its end"
    assert result.status is Status.OPTIMAL


class Compiling(Draws):
    """Its first step is a kernel that compiles for a second."""

    def step(self):
        if self.left == 1000:
            compiling.begin()
            time.sleep(1.0)
            compiling.end()
        return super().step()


def test_compiling_workers_are_waited_for(problem, monkeypatch):
    """A kernel that compiles cannot be stopped: who waits has patience, also for the second worker."""

    class Cold(Trivial):
        def start(self, problem, *, seed, budget, initial=None):
            return Compiling(problem, seed, 1000, 0.01 if seed == 3 else 0.02)

    monkeypatch.setattr("dabp.cluster.restarts.GRACE_SECONDS", 0.3)
    with ThreadPoolExecutor(2) as executor:
        result = solve_restarts(problem, Cold(), restarts=2, executor=executor, seed=3, time_limit=0.2)
    assert result.cost is not None
    assert "2 of 2 restarts ended" in result.notes


def test_silent_workers_are_not_waited_for_forever(problem, monkeypatch):
    """No answer at all is an error in the end; after a first answer the others have little time left."""
    monkeypatch.setattr("dabp.cluster.restarts.GRACE_SECONDS", 0.1)
    monkeypatch.setattr("dabp.cluster.restarts.COMPILING_SECONDS", 0.3)

    class Silent(concurrent.futures.Executor):
        def submit(self, function, *arguments):
            future = concurrent.futures.Future()
            if arguments[2] in answering:
                future.set_result(function(*arguments))
            return future

    answering = []
    with pytest.raises(SolverError, match="did not end in time"):
        solve_restarts(problem, Trivial(), restarts=2, executor=Silent(), seed=3, time_limit=0.1)
    answering = [3]
    monkeypatch.setattr("dabp.cluster.restarts.COMPILING_SECONDS", 300.0)
    result = solve_restarts(problem, Trivial(), restarts=2, executor=Silent(), seed=3, time_limit=0.1)
    assert any("did not end in time" in note for note in result.notes)
    assert result.runtime < 60


def test_dask_is_an_executor(problem):
    """A Dask client's executor runs restarts, and goes on when a worker is killed."""
    import distributed

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "host": "127.0.0.1"}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        client.run(sys.path.append, str(Path(__file__).parents[1] / "lab" / "experiments"))
        os.kill(next(iter(cluster.workers.values())).pid, signal.SIGKILL)
        executor = client.get_executor(retries=3)
        result = solve_restarts(problem, Trivial(), restarts=4, executor=executor, seed=3)
    costs = [dabp.solve(problem, Trivial(), seed=seed).cost for seed in restart_seeds(3, 4)]
    assert result.cost == min(costs)
